#pragma once

#include <cstdint>

#include "stencil/core/message.h"
#include "stencil/neighbour/neighbour.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Messages to neighbours, each over the connection that serves its edge; what a link has no room
/// for waits in Connection::backlog, urgent frames before payloads. One thread.
class Outbox {
 public:
  /// `window`: own requests in flight on one edge. `dropped`, which must outlive this, counts
  /// frames that could not be sent.
  Outbox(Transport& transport, std::uint32_t window, std::uint64_t& dropped);

  /// Without a link the message is dropped: it is made up for when the edge is synchronised anew.
  void send(Neighbour& to, const Message& message);
  /// Sends what waits, as far as the link takes it.
  void flush(Neighbour& to);

 private:
  Transport& transport_;
  std::size_t most_;
  std::uint64_t& dropped_;
};

}  // namespace stencil
