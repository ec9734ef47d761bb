#include "fast/run/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "fast/errors.h"

namespace fast {

std::optional<LockFile> LockFile::take(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw FileError("cannot open " + file.string() + ": " + std::strerror(errno),
                    "check the path and its permissions");
  }
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) {
    ::close(descriptor);
    return std::nullopt;
  }
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  const std::string holder = "process " + std::to_string(::getpid()) + " on " + host.data() + "\n";
  if (::ftruncate(descriptor, 0) == 0) {
    (void)!::pwrite(descriptor, holder.data(), holder.size(), 0);
  }
  return LockFile(descriptor, locked);
}

std::string LockFile::holder_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "another process" : line;
}

LockFile::~LockFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LockFile::LockFile(LockFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), locked_(other.locked_) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(locked_, other.locked_);
  return *this;
}

}  // namespace fast
