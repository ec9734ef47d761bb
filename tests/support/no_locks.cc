// Preloaded into a program under test: flock() as on a file system that has no locks.
#include <sys/file.h>

#include <cerrno>

extern "C" int flock(int /*descriptor*/, int /*operation*/) noexcept {
  errno = ENOLCK;
  return -1;
}
