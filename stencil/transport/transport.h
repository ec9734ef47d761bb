#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stencil/core/frame.h"
#include "stencil/core/peer_address.h"
#include "stencil/core/types.h"

namespace stencil {

enum class LinkEvent : std::uint8_t {
  kFrame,  ///< `frame` arrived on `link` (possibly one never seen before: they dialled)
  kUp,     ///< a link we dialled is connected, or connected again after kDown
  kDown,   ///< the link broke; a dialled one is retried by the transport until dropped
};

struct Received {
  LinkEvent event = LinkEvent::kFrame;
  LinkId link = 0;
  Frame frame;
  /// Whose key the other end of the link has proven to hold, by the keys as they are now
  /// (TransportOptions::keys); nothing where it has proven none. Says nothing of a kDown.
  std::optional<Rank> proven = std::nullopt;
};

enum class SendStatus : std::uint8_t {
  kSent,  ///< accepted; delivered in order unless the link breaks
  kFull,  ///< the link's bounded queue is full: try again later (the frame is untouched); for
          ///< urgent frames there may be room beyond
  kDown,  ///< not connected, or unknown link (the frame is untouched)
};

/// What happened below us, for the summary. All but the last are monotonic.
struct TransportStats {
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;  ///< header + payload
  std::uint64_t strangers = 0;                       ///< handshakes or frames not of our kind
  std::uint64_t discarded = 0;                       ///< frames the layer below gave up
  /// Bytes that have come and are not handed over, as far as can be told; of now.
  std::uint64_t held = 0;

  TransportStats& operator+=(const TransportStats& other) {
    frames_sent += other.frames_sent;
    frames_received += other.frames_received;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    strangers += other.strangers;
    discarded += other.discarded;
    held += other.held;
    return *this;
  }
};

/// Frames between neighbours. Owned and called by one thread (whichever calls the pump), that of
/// the loop it waits on, which it asks for a turn when there may be something to receive; a frame
/// on one link arrives whole, at most once and in order (but see Frame::urgent), or the link goes
/// down. Nothing blocks.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Where others can dial us, e.g. "tcp://127.0.0.1:40123"; "" where nobody can.
  [[nodiscard]] virtual std::string endpoint() const = 0;

  /// Begins to connect, and keeps trying (resolving names anew) until drop(). Where the address has
  /// a key, the link is up only once the other end has proven it. Throws ConfigError for an address
  /// it cannot even parse, or whose key it cannot have proven, and ResourceError where it is out of
  /// descriptors: then it may be dialled again.
  virtual LinkId dial(const PeerAddress& address) = 0;

  /// Forgets a link. Unknown links are ignored.
  virtual void drop(LinkId link) = 0;

  /// `frame` is moved from only when kSent is returned. After kFull a turn is asked for once the
  /// link takes a frame again. A part over TransportOptions::max_frame_bytes is a defect
  /// of the caller's: InvariantError.
  [[nodiscard]] virtual SendStatus send(LinkId link, Frame&& frame) = 0;

  /// The next event, or nothing. Call until nothing in every turn of the loop and after every send.
  [[nodiscard]] virtual std::optional<Received> receive() = 0;

  [[nodiscard]] virtual TransportStats stats() const = 0;
};

}  // namespace stencil
