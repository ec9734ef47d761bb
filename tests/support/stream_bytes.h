#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "stencil/transport/stream/frame_reader.h"

namespace fast::testing {

/// The bytes of a stream transport, for tests that speak to one by hand.
inline std::string greeting() {
  return {reinterpret_cast<const char*>(stencil::kGreeting.data()), stencil::kGreeting.size()};
}

inline std::string lengths(std::uint32_t header, std::uint32_t payload) {
  std::string bytes;
  for (const std::uint32_t value : {header, payload}) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
  }
  return bytes;
}

inline std::string framed(const std::string& header, const std::string& payload) {
  return lengths(static_cast<std::uint32_t>(header.size()),
                 static_cast<std::uint32_t>(payload.size())) +
         header + payload;
}

/// A plain TCP connection to a port of this host.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  /// The port of "tcp://HOST:PORT".
  explicit RawConnection(const std::string& endpoint)
      : RawConnection(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))) {}
  ~RawConnection() { ::close(socket_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  [[nodiscard]] int descriptor() const { return socket_; }
  /// The other side may close in the middle.
  void write(const std::string& bytes) const {
    (void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int socket_;
};

}  // namespace fast::testing
