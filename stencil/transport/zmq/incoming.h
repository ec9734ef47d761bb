#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "stencil/core/frame.h"
#include "stencil/core/payload_pool.h"

namespace stencil {

/// A payload where libzmq has received it.
class MessageMemory final : public PooledMemory {
 public:
  void take(zmq::message_t&& message);

 private:
  void empty() override;
  zmq::message_t message_;
};

/// One message of a ZeroMQ socket.
struct Incoming {
  std::string sender;          ///< the routing id, where the socket is a ROUTER
  std::optional<Frame> frame;  ///< nothing: it is no frame of ours
  std::size_t wire_bytes = 0;  ///< of all its parts
};

/// Takes messages from sockets: header, then the payload where there is one. Payloads stay where
/// libzmq put them. One thread; the payloads may be held anywhere.
class Inbox {
 public:
  /// `encrypted`: as all messages are, or none.
  explicit Inbox(bool encrypted) : encrypted_(encrypted) {}

  /// The next message; nothing where none has arrived.
  [[nodiscard]] std::optional<Incoming> receive(zmq::socket_t& socket, bool from_router);
  /// Of the last message: the descriptor of its connection, and the user id that the handshake gave
  /// the sender's key ("": none). Both require that receive() has returned a message.
  [[nodiscard]] int connection() const;
  [[nodiscard]] std::string user() const;

 private:
  const bool encrypted_;
  PayloadPool<MessageMemory> payloads_;
  zmq::message_t header_;
};

}  // namespace stencil
