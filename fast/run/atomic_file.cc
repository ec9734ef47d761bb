#include "fast/run/atomic_file.h"

#include <unistd.h>

#include <fstream>
#include <system_error>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kRemedy[] = "check the path, its permissions and the free space";

/// In the same folder, so that the rename stays within one file system; named by process, so that
/// two processes writing the same file do not meet.
std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  std::string name = ".";
  name += file.filename().string();
  name += '.';
  name += std::to_string(::getpid());
  name += ".tmp";
  return file.parent_path() / name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path file)
    : file_(std::move(file)), temporary_(temporary_beside(file_)) {
  out_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!out_) throw FileError("cannot write " + file_.string(), kRemedy);
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

void AtomicFile::commit() {
  out_.close();
  if (!out_) throw FileError("writing " + file_.string() + " failed", kRemedy);
  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (error) {
    throw FileError("cannot put " + file_.string() + " in place: " + error.message(), kRemedy);
  }
  temporary_.clear();
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
