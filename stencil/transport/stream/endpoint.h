#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/transport/descriptors.h"

namespace stencil {

/// How the addresses of a transport begin: of hosts, and of paths on this one.
struct Schemes {
  std::string_view tcp, local;
};
inline constexpr Schemes kStreamSchemes{"tcp://", "ipc://"};
inline constexpr Schemes kZmqSchemes{"zmq://", "zmq+ipc://"};

/// "tcp://HOST:PORT" or "ipc://PATH", taken apart; or of other schemes.
struct Endpoint {
  std::string text;  ///< as it was given
  bool local = false;
  std::string host;  ///< or the path; an IPv6 address without its brackets; "*": all interfaces
  std::uint16_t port = 0;
};

/// Throws ConfigError that names the endpoint: unknown scheme, no valid port, a link-local address
/// without its interface. Port 0 or * only to listen.
[[nodiscard]] Endpoint parse_endpoint(const std::string& text, bool dialling,
                                      const Schemes& schemes = kStreamSchemes);

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// "SCHEME1.2.3.4:PORT" or "SCHEME[1:2::3]:PORT".
[[nodiscard]] std::string text_of(const Address& address, std::string_view scheme);

/// Without asking anybody: of a path or a literal address; empty for a name.
[[nodiscard]] std::vector<Address> literal_addresses(const Endpoint& endpoint);

/// What the system's resolver has answered.
struct LookedUp {
  std::vector<Address> addresses{};
  std::string error{};  ///< why there are none
};

/// Asks the system's resolver, for as long as that takes.
[[nodiscard]] LookedUp look_up(const Endpoint& endpoint);

/// Connections of this socket, which is to listen or to dial, carry no more in an IP packet, either
/// way. Local sockets ignore it.
void bound_packets(int socket, int packet_bytes);

/// A socket that listens and does not block. The path of a local one is removed at its end; one
/// that nobody listens on any more is taken over.
class Listener {
 public:
  /// `packet_bytes`: see TransportOptions. Throws NetworkError naming the endpoint and the cause.
  explicit Listener(const std::string& endpoint, const Schemes& schemes = kStreamSchemes,
                    int packet_bytes = 65535);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// Where others can dial it: all interfaces become this host's name.
  [[nodiscard]] const std::string& endpoint() const { return dialable_; }
  [[nodiscard]] bool local() const { return asked_.local; }

 private:
  Endpoint asked_;
  Descriptor socket_;
  std::string dialable_;
};

}  // namespace stencil
