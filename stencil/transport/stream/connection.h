#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "stencil/transport/factory.h"
#include "stencil/transport/stream/endpoint.h"
#include "stencil/transport/stream/frame_reader.h"
#include "stencil/transport/stream/frame_writer.h"
#include "stencil/transport/stream/tls.h"

namespace stencil {

/// One stream socket, from the first word to the last. Never blocks, and never throws for what the
/// other end does. Its owner waits on descriptor() for what it wants, and passes it on.
class Connection {
 public:
  /// kProving: connected, and both ends prove their keys.
  enum class State : std::uint8_t { kConnecting, kProving, kOpen, kEnded };

  /// Takes a socket that does not block: connecting, or connected (kOpen). With `tls`, on the same
  /// socket, it is open only once the keys are proven.
  Connection(Descriptor&& socket, State state, const TransportOptions& options,
             BucketPool& payloads, std::unique_ptr<TlsChannel> tls = nullptr);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] State state() const { return state_; }
  /// Their greeting has come: this is one of us.
  [[nodiscard]] bool greeted() const { return reader_.greeted(); }
  /// A part of a payload has come.
  [[nodiscard]] bool in_payload() const { return reader_.in_payload(); }
  [[nodiscard]] std::size_t held() const { return reader_.held(); }  ///< bytes of its memory
  /// They have sent what no worker sends.
  [[nodiscard]] bool broken() const { return reader_.broken() || (tls_ && tls_->garbled()); }
  /// TLS: null without.
  [[nodiscard]] const TlsChannel* tls() const { return tls_.get(); }
  /// They began with TLS where we have no keys.
  [[nodiscard]] bool wants_keys() const { return reader_.begins_with_tls(); }

  /// What to wait for once receive() has given nothing: each call of the system that could do more
  /// has been tried.
  [[nodiscard]] bool wants_readable() const {
    return (state_ == State::kOpen || state_ == State::kProving) && !readable_;
  }
  [[nodiscard]] bool wants_writable() const {
    return state_ != State::kEnded && !writable_ && !write_broken_;
  }
  void on_readable() { readable_ = true; }
  /// True where a link that has refused a frame takes one again.
  bool on_writable();

  /// Goes on proving the keys; true where that has come to an end, one way (kOpen) or the other.
  bool prove();
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
  void open();
  void flush();
  bool read_more();
  void end();

  Descriptor socket_;
  State state_;
  std::unique_ptr<TlsChannel> tls_;  ///< null: no keys are in use
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
