#pragma once

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "stencil/transport/stream/frame_reader.h"

namespace stencil {

class TlsChannel;

/// The frames that wait to be written to one socket, the greeting before them. Written from where
/// they lie: nothing is copied.
class FrameWriter {
 public:
  enum class Outcome : std::uint8_t { kAll, kSome, kBroken };

  explicit FrameWriter(std::size_t most_frames) : most_frames_(most_frames) {}

  /// No room for this one. A few urgent frames find room beyond.
  [[nodiscard]] bool full(bool urgent = false) const {
    return queue_.size() >= most_frames_ + (urgent ? kUrgentFrames : 0);
  }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] bool empty() const { return queue_.empty() && greeting_left_ == 0; }
  /// Requires !full(frame.urgent).
  void push(Frame&& frame);

  /// Writes until all is written, the socket takes no more (kSome), or it is broken. In pieces of
  /// at most so many bytes: Linux would join small writes to 64 KiB before it heeds its bound on
  /// unsent bytes, but keeps pieces apart, and so holds at most one more than that bound.
  [[nodiscard]] Outcome flush(int socket, std::size_t piece = kWhole);
  /// Likewise, encrypted. kAll: the channel has sent all of it, too.
  [[nodiscard]] Outcome flush(TlsChannel& channel, std::size_t piece = kWhole);
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

 private:
  static constexpr std::size_t kUrgentFrames = 8;
  struct Queued {
    FrameLengths lengths;
    Frame frame;
    [[nodiscard]] std::size_t size() const {
      return sizeof lengths + frame.header.size() + view(frame.payload).size();
    }
  };
  /// `write` is as ::sendmsg().
  template <typename Write>
  [[nodiscard]] Outcome flush_by(Write write, std::size_t piece);
  void written(std::size_t bytes);

  std::size_t most_frames_;
  std::size_t greeting_left_ = kGreeting.size();
  boost::circular_buffer<Queued> queue_;  ///< no memory before the first frame
  std::size_t first_done_ = 0;            ///< bytes of the first that are written
};

}  // namespace stencil
