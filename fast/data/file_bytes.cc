#include "fast/data/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr std::size_t kFirstPiece = 64 * 1024;
constexpr std::size_t kLargestRead = 1 << 30;

DataError unreadable(const std::filesystem::path& file, const std::string& why,
                     const std::string& remedy) {
  return DataError("cannot read " + file.string() + ": " + why, remedy);
}

/// zlib repeats the file's name before its cause; this removes it.
std::string cause(const std::string& error, int code) {
  if (code == Z_BUF_ERROR) return "it ends too early";
  const auto colon = error.rfind(": ");
  return colon == std::string::npos ? error : error.substr(colon + 2);
}

}  // namespace

std::size_t data_file_size(const std::filesystem::path& file, const std::string& remedy) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw unreadable(file, "no such file", remedy);
  if (!std::filesystem::is_regular_file(status)) throw unreadable(file, "not a file", remedy);
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw unreadable(file, error.message(), remedy);
  if (size > kMaxDataFile) {
    throw unreadable(
        file,
        std::to_string(size) + " bytes are more than the limit of " + std::to_string(kMaxDataFile),
        remedy);
  }
  return static_cast<std::size_t>(size);
}

void read_data_file(const std::filesystem::path& file, const std::string& remedy,
                    std::vector<std::uint8_t>& out, std::size_t most) {
  const std::size_t size = data_file_size(file, remedy);
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(file.c_str(), "rb"), gzclose_r);
  if (!in) throw unreadable(file, errno != 0 ? std::strerror(errno) : "out of memory", remedy);
  std::size_t filled = 0;
  out.resize(std::min(most, std::max(kFirstPiece, size)));
  for (;;) {
    const auto room = static_cast<unsigned>(std::min(out.size() - filled, kLargestRead));
    const int got = gzread(in.get(), out.data() + filled, room);
    int code = Z_OK;
    const std::string why = gzerror(in.get(), &code);
    // At the end of a truncated stream gzread returns the data that it has; gzerror tells of the
    // error.
    if (got < 0 || code != Z_OK) {
      throw unreadable(file,
                       "damaged at compressed byte " + std::to_string(gzoffset(in.get())) + ": " +
                           cause(why, code),
                       "fetch the file again");
    }
    filled += static_cast<std::size_t>(got);
    if (filled > kMaxDataFile) {
      throw unreadable(file, "it inflates to more than " + std::to_string(kMaxDataFile) + " bytes",
                       remedy);
    }
    if (static_cast<unsigned>(got) < room || filled == most) break;
    if (filled == out.size()) out.resize(std::min(most, out.size() * 2));
  }
  out.resize(filled);
}

DataFile::DataFile(const std::filesystem::path& file, std::string remedy)
    : file_(file),
      remedy_(std::move(remedy)),
      descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw unreadable(file_, std::strerror(errno), remedy_);
}

DataFile::~DataFile() {
  close(descriptor_);
}

std::size_t DataFile::size() const {
  struct stat seen {};
  if (fstat(descriptor_, &seen) != 0) throw unreadable(file_, std::strerror(errno), remedy_);
  if (!S_ISREG(seen.st_mode)) throw unreadable(file_, "not a file", remedy_);
  return static_cast<std::size_t>(seen.st_size);
}

void DataFile::read(std::size_t offset, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(file_, std::strerror(errno), remedy_);
    if (got == 0) throw unreadable(file_, "it has become shorter since the start", remedy_);
    offset += static_cast<std::size_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace fast
