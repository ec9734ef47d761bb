// Preloaded into a program under test: bind() as on a machine whose loopback has no IPv4.
#include <dlfcn.h>
#include <sys/socket.h>

#include <cerrno>

extern "C" int bind(int descriptor, const sockaddr* address, socklen_t size) noexcept {
  if (address->sa_family == AF_INET) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  using Bind = int (*)(int, const sockaddr*, socklen_t);
  const auto real = reinterpret_cast<Bind>(dlsym(RTLD_NEXT, "bind"));
  return real(descriptor, address, size);
}
