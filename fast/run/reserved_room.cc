#include "fast/run/reserved_room.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "fast/errors.h"

namespace fast {
namespace {

std::string megabytes(std::size_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

}  // namespace

void ReservedRoom::reserve(std::size_t bytes, std::size_t beside) {
  const std::string folder = file_.parent_path().string();
  const auto fail = [&](const std::string& why) {
    release();
    throw FileError("no room in " + folder + " for " + megabytes(bytes + beside) +
                        " of models and checkpoints: " + why,
                    "make room, or choose another --out");
  };
  const int descriptor = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(std::strerror(errno));
  const int failed = bytes == 0 ? 0 : posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  close(descriptor);
  if (failed != 0) fail(std::strerror(failed));
  std::error_code error;
  const std::uintmax_t left = std::filesystem::space(file_.parent_path(), error).available;
  if (!error && left < beside) fail(megabytes(left) + " are left");
}

void ReservedRoom::release() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace fast
