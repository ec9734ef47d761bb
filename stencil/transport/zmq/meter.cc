#include "stencil/transport/zmq/meter.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include "stencil/core/frame.h"

namespace stencil {
namespace {

/// The handshake, and what libzmq reads in one call beyond the end of a message.
constexpr std::size_t kReadBeyond = 64 << 10;

std::optional<std::uint64_t> identity_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) return std::nullopt;
  return cookie;
}

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string host_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    const auto& bytes = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
  }
  if (address.ss_family != AF_INET) return {};
  const auto& bytes = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
}

}  // namespace

Hangup::Hangup(int harmless)
    : harmless_(harmless), in_hand_(::fcntl(harmless, F_DUPFD_CLOEXEC, 0)) {}

/// Between a look at a descriptor's connection and a call that ends it, libzmq may close it and
/// somebody else be given its number; a copy keeps its connection. Disconnecting a TCP socket drops
/// what is unread, which after a shutdown libzmq would still read.
void Hangup::hang_up(int descriptor, std::uint64_t identity) {
  if (::dup3(descriptor, in_hand_.get(), O_CLOEXEC) < 0) return;
  if (identity_of(in_hand_.get()) == identity) {
    sockaddr none{};
    none.sa_family = AF_UNSPEC;
    if (::connect(in_hand_.get(), &none, sizeof none) != 0) ::shutdown(in_hand_.get(), SHUT_RDWR);
  }
  ::dup3(harmless_, in_hand_.get(), O_CLOEXEC);
}

std::optional<Meter> Meter::of(int descriptor, std::uint16_t port) {
  const std::optional<std::uint64_t> identity = identity_of(descriptor);
  sockaddr_storage own{}, other{};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  if (!identity || ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &other_size) != 0) {
    return std::nullopt;
  }
  if (port != 0 && own.ss_family != AF_UNIX && port_of(own) != port) return std::nullopt;
  return Meter(descriptor, *identity, host_of(other));
}

bool Meter::look() {
  if (identity_of(descriptor_) != identity_) return false;
  int unread = 0;
  tcp_info info{};
  socklen_t size = sizeof info;
  // Asked first: what comes in between seems to have been read less, not more.
  if (::getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ::ioctl(descriptor_, FIONREAD, &unread) != 0) {
    return true;
  }
  const std::uint64_t unread_bytes = static_cast<std::uint64_t>(std::max(unread, 0));
  const std::uint64_t came = info.tcpi_bytes_received;
  read_ = std::max(read_, came - std::min(came, unread_bytes));
  return true;
}

std::size_t wire_bytes_of_part(std::size_t size, bool encrypted) {
  if (encrypted) size += kCurveBytes;
  return size + (size > 255 ? 9 : 2);
}

std::size_t most_held(std::size_t max_frame_bytes, bool encrypted) {
  return wire_bytes_of_part(kMaxHeaderBytes, encrypted) +
         wire_bytes_of_part(std::max(max_frame_bytes, kMaxHeaderBytes), encrypted) + kReadBeyond;
}

}  // namespace stencil
