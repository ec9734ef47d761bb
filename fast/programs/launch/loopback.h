#pragma once

#include <string>

namespace fast {

/// Where workers of this machine can listen for each other alone, at a port that the system hands
/// out: "127.0.0.1:0", or "[::1]:0" on a machine without IPv4.
[[nodiscard]] std::string loopback_endpoint();

/// A port of that address that stays the same for as long as this lives: the system hands it out to
/// nobody else. Who names it may listen there, and again after its end, if its socket has
/// SO_REUSEADDR, as all our transports' have. Until then nobody listens.
class ReservedPort {
 public:
  /// Throws NetworkError where the system has no port.
  ReservedPort();
  ~ReservedPort();
  ReservedPort(ReservedPort&& other) noexcept;
  ReservedPort& operator=(ReservedPort&&) = delete;

  /// "127.0.0.1:40123" or "[::1]:40123".
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

 private:
  int descriptor_ = -1;
  std::string endpoint_;
};

}  // namespace fast
