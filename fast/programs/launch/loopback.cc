#include "fast/programs/launch/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

sockaddr_in loopback_four() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

sockaddr_in6 loopback_six() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  return address;
}

/// A socket that is bound to a port that the system chooses, and does not listen; -1 where that is
/// not possible.
template <typename Address>
int bound(const Address& address, int family) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

template <typename Address>
bool can_listen(const Address& address, int family) {
  const int descriptor = bound(address, family);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

}  // namespace

std::string loopback_endpoint() {
  const bool only_six =
      !can_listen(loopback_four(), AF_INET) && can_listen(loopback_six(), AF_INET6);
  return only_six ? "[::1]:0" : "127.0.0.1:0";
}

ReservedPort::ReservedPort() {
  std::string host = "127.0.0.1:";
  descriptor_ = bound(loopback_four(), AF_INET);
  const int error = errno;
  if (descriptor_ < 0) {
    host = "[::1]:";
    descriptor_ = bound(loopback_six(), AF_INET6);
  }
  if (descriptor_ < 0) {
    throw stencil::NetworkError(
        std::string("no port of this machine for its workers: ") + std::strerror(error),
        "check that the loopback interface is up");
  }
  // Both families have the port at the same place.
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
  endpoint_ = host + std::to_string(ntohs(address.sin6_port));
}

ReservedPort::~ReservedPort() {
  if (descriptor_ >= 0) close(descriptor_);
}

ReservedPort::ReservedPort(ReservedPort&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), endpoint_(std::move(other.endpoint_)) {}

}  // namespace fast
