#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "stencil/transport/descriptors.h"

namespace stencil {

/// Ends connections that are libzmq's, which offers no call for it. One thread.
class Hangup {
 public:
  /// Keeps a descriptor in hand, so that one can be hung up on when there are none to be had.
  /// `harmless` is any descriptor that stays open for as long.
  explicit Hangup(int harmless);
  /// Ends the connection of `descriptor` at once, in both directions, with all that libzmq has not
  /// read of it; nothing where that descriptor has another connection by now, or none.
  void hang_up(int descriptor, std::uint64_t identity);

 private:
  const int harmless_;
  Descriptor in_hand_;
};

/// Counts what libzmq holds of one connection: what it has read and not yet handed on as whole
/// messages. libzmq owns the descriptor and may close it at any time. One thread.
class Meter {
 public:
  /// Nothing where `descriptor` has no connection (any more), or one whose own port is not `port`
  /// (0: any). `port` is not asked of a local socket.
  static std::optional<Meter> of(int descriptor, std::uint16_t port);

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Never the same for two connections of this host.
  [[nodiscard]] std::uint64_t identity() const { return identity_; }
  /// The other end's address without its port; "" of a local socket.
  [[nodiscard]] const std::string& host() const { return host_; }

  /// Asks the system how much libzmq has read by now; of a local socket it cannot be told. False
  /// where the connection is libzmq's no more.
  bool look();
  /// A whole message, of so many bytes on the wire, was handed on.
  void heard(std::size_t wire_bytes) { heard_ += wire_bytes; }
  [[nodiscard]] bool has_said_anything() const { return heard_ > 0; }
  /// What libzmq had read at the last look() and has not handed on since. Once all that it had to
  /// hand on then has been taken from it, this is the beginning of a message.
  [[nodiscard]] std::size_t held() const { return read_ > heard_ ? read_ - heard_ : 0; }

 private:
  Meter(int descriptor, std::uint64_t identity, std::string host)
      : descriptor_(descriptor), identity_(identity), host_(std::move(host)) {}
  int descriptor_;
  std::uint64_t identity_;
  std::string host_;
  std::uint64_t read_ = 0, heard_ = 0;
};

/// What CURVE adds to a part: its name, nonce and proof, and flags (ZeroMQ RFC 26).
inline constexpr std::size_t kCurveBytes = 8 + 8 + 16 + 1;

/// Bytes on the wire of a part of `size` bytes (ZeroMQ RFC 37; 26 where it is encrypted).
[[nodiscard]] std::size_t wire_bytes_of_part(std::size_t size, bool encrypted);

/// The most that an honest peer lets libzmq hold: one message, and what was read beyond it at once.
[[nodiscard]] std::size_t most_held(std::size_t max_frame_bytes, bool encrypted);

}  // namespace stencil
