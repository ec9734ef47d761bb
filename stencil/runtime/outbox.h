#pragma once

#include <cstdint>

#include "stencil/core/message.h"
#include "stencil/runtime/edge.h"
#include "stencil/transport/transport.h"
#include "stencil/wire/wire.h"

namespace stencil {

/// Sends messages to neighbours, each over the connection that serves its edge. Frames that a link
/// has no room for wait in Connection::backlog, urgent ones before payloads. Beyond a bound it
/// drops messages that are sent again anyway. One thread.
class Outbox {
 public:
  /// `window`: own requests in flight on one edge. `dropped`, which must outlive this, counts
  /// frames that could not be sent. `links`: of all that serve an edge.
  Outbox(Transport& transport, std::uint32_t window, std::uint64_t& dropped,
         Integrity links = Integrity::kChecksum);

  /// Without a link the message is dropped; synchronising the edge anew makes up for it.
  void send(Edge& to, const Message& message);
  /// Sends waiting frames, as many as the link takes.
  void flush(Edge& to);

 private:
  Transport& transport_;
  std::size_t most_;
  std::uint64_t& dropped_;
  Integrity links_;
};

}  // namespace stencil
