#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stencil/transport/factory.h"
#include "stencil/transport/stream/endpoint.h"
#include "stencil/transport/stream/frame_reader.h"
#include "stencil/transport/stream/frame_writer.h"

namespace stencil {

/// One stream socket, from the first word to the last. Never blocks, and never throws for what the
/// other end does. Its owner waits on descriptor() for what it wants, and passes it on.
class Connection {
 public:
  enum class State : std::uint8_t { kConnecting, kOpen, kEnded };

  /// Takes a socket that does not block: connecting, or connected.
  Connection(Descriptor&& socket, State state, const TransportOptions& options,
             BucketPool& payloads);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] State state() const { return state_; }
  /// Their greeting has come: this is one of us.
  [[nodiscard]] bool greeted() const { return reader_.greeted(); }
  /// A part of a payload has come.
  [[nodiscard]] bool in_payload() const { return reader_.in_payload(); }
  /// They have sent what no worker sends.
  [[nodiscard]] bool broken() const { return reader_.broken(); }

  /// What to wait for once receive() has given nothing: each call of the system that could do more
  /// has been tried.
  [[nodiscard]] bool wants_readable() const { return state_ == State::kOpen && !readable_; }
  [[nodiscard]] bool wants_writable() const {
    return state_ != State::kEnded && !writable_ && !write_broken_;
  }
  void on_readable() { readable_ = true; }
  /// True where a link that has refused a frame takes one again.
  bool on_writable();

  /// The next frame. Nothing: wait, unless the state is kEnded. All that has come is returned
  /// before the end is shown.
  [[nodiscard]] std::optional<Frame> receive();
  /// receive() has given nothing, but may have more to drop.
  [[nodiscard]] bool has_more() const { return more_; }

  /// kDown in all states but kOpen, and once a write has failed: then the end will show in time.
  [[nodiscard]] SendStatus send(Frame&& frame);

  /// Sends what waits, says that no more will come, and drops what arrives; kEnded when the other
  /// end has closed, too.
  void leave();
  /// Nothing more needs this connection: it has ended, or all that was sent has been acknowledged.
  [[nodiscard]] bool may_close() const;
  [[nodiscard]] std::size_t unsent_frames() const { return writer_.size(); }

 private:
  void connected();
  void flush();
  bool read_more();
  void end();

  Descriptor socket_;
  State state_;
  FrameReader reader_;
  FrameWriter writer_;
  std::size_t largest_piece_, piece_;  ///< bytes of a write
  unsigned stalls_ = 0;                ///< times the system took no more
  bool readable_ = false;              ///< a read may give something
  bool writable_ = false;              ///< a write may take something
  bool write_broken_ = false;
  bool leaving_ = false, shut_ = false;
  bool more_ = false;     ///< to be dropped
  bool refused_ = false;  ///< a frame, for want of room
};

}  // namespace stencil
