#include "fast/run/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kRemedy[] = "check the path, its permissions and the free space";

/// A name in the same folder, so that the rename stays within one file system. It contains the
/// process id, so that two processes can write the same file.
std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  std::string name = ".";
  name += file.filename().string();
  name += '.';
  name += std::to_string(::getpid());
  name += ".tmp";
  return file.parent_path() / name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path file, const std::filesystem::path& room)
    : file_(std::move(file)), temporary_(room) {
  if (!room.empty()) out_ = std::fopen(room.c_str(), "r+be");
  if (out_ != nullptr) return;
  temporary_ = temporary_beside(file_);
  out_ = std::fopen(temporary_.c_str(), "wbe");
  if (out_ == nullptr) {
    throw FileError("cannot write " + file_.string() + ": " + std::strerror(errno), kRemedy);
  }
}

AtomicFile::~AtomicFile() {
  if (out_ != nullptr) std::fclose(out_);
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  if (size == 0 || error_ != 0) return;
  if (std::fwrite(bytes, 1, size, out_) != size) error_ = errno;
}

void AtomicFile::finish() {
  if (out_ == nullptr) return;
  // Room that was reserved may be longer than what was written.
  if (error_ == 0 && (std::fflush(out_) != 0 || ::ftruncate(::fileno(out_), ::ftell(out_)) != 0 ||
                      ::fsync(::fileno(out_)) != 0)) {
    error_ = errno;
  }
  if (std::fclose(std::exchange(out_, nullptr)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) {
    throw FileError("writing " + file_.string() + " failed: " + std::strerror(error_), kRemedy);
  }
}

void AtomicFile::commit() {
  finish();
  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (error) {
    throw FileError("cannot put " + file_.string() + " in place: " + error.message(), kRemedy);
  }
  temporary_.clear();
  sync_folder(file_.parent_path());
}

void sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

void make_writable_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw FileError("cannot create the folder " + folder.string() +
                        (error ? ": " + error.message() : ": something else is in its place"),
                    kRemedy);
  }
  const auto probe = folder / (".writable." + std::to_string(::getpid()));
  {
    std::ofstream out(probe, std::ios::binary | std::ios::trunc);
    out << "1" << std::flush;
    if (!out) {
      out.close();
      std::filesystem::remove(probe, error);
      throw FileError("cannot write into the folder " + folder.string(), kRemedy);
    }
  }
  std::filesystem::remove(probe, error);
}

void write_atomically(const std::filesystem::path& file, std::string_view content) {
  AtomicFile out(file);
  out.write(content.data(), content.size());
  out.commit();
}

}  // namespace fast
