#pragma once

#include <cstdint>
#include <string>

namespace fast::testing {

// The bytes of ZMTP 3.1 (ZeroMQ RFC 37), for tests that speak to libzmq by hand.

/// The 64 bytes that both ends send first.
inline std::string zmtp_greeting(const std::string& mechanism) {
  std::string bytes = "\xff" + std::string(8, '\0') + "\x7f\x03\x01" + mechanism;
  bytes.resize(64, '\0');
  return bytes;
}

/// The handshake of a DEALER, without keys.
inline std::string zmtp_ready() {
  const std::string property = std::string("\x0b") + "Socket-Type" + std::string("\0\0\0\x06", 4) +
                               "DEALER" + "\x08" + "Identity" + std::string(4, '\0');
  const std::string body = "\x05READY" + property;
  return std::string("\x04") + static_cast<char>(body.size()) + body;
}

/// One part of a message, as libzmq writes it.
inline std::string zmtp_part(const std::string& body, bool more) {
  if (body.size() < 256) {
    return std::string(1, more ? '\1' : '\0') + static_cast<char>(body.size()) + body;
  }
  std::string size(8, '\0');
  for (int i = 0; i < 8; ++i) size[7 - i] = static_cast<char>(body.size() >> (8 * i));
  return std::string(more ? "\3" : "\2") + size + body;
}

}  // namespace fast::testing
