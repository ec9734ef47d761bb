// Preloaded into a program under test: flock() fails as on a file system without locks.
#include <sys/file.h>

#include <cerrno>

extern "C" int flock(int /*descriptor*/, int /*operation*/) noexcept {
  errno = ENOLCK;
  return -1;
}
