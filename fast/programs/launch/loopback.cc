#include "fast/programs/launch/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fast {
namespace {

template <typename Address>
bool can_listen(const Address& address, int family) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const bool bound =
      bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(descriptor);
  return bound;
}

}  // namespace

std::string loopback_endpoint() {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  const bool only_six = !can_listen(four, AF_INET) && can_listen(six, AF_INET6);
  return only_six ? "[::1]:0" : "127.0.0.1:0";
}

}  // namespace fast
