#pragma once

#include <cstdint>

#include "stencil/core/message.h"
#include "stencil/runtime/edge.h"
#include "stencil/runtime/pacer.h"
#include "stencil/transport/transport.h"
#include "stencil/wire/wire.h"

namespace stencil {

/// Sends messages to neighbours, each over the connection that serves its edge. Frames that a link
/// has no room for, and payloads that are too many for the rate, wait in Connection::backlog,
/// urgent ones before payloads. Where the rate is bounded, edges take turns, a payload each. Beyond
/// a bound it drops messages that are sent again anyway. One thread.
class Outbox {
 public:
  /// `window`: own requests in flight on one edge. `dropped`, which must outlive this, counts
  /// frames that could not be sent. `links`: of all that serve an edge.
  Outbox(Transport& transport, std::uint32_t window, std::uint64_t& dropped,
         Integrity links = Integrity::kChecksum, Pacer pacer = Pacer());

  /// It is `now`.
  void advance(TimePoint now) { pacer_.advance(now); }

  /// Without a link the message is dropped; synchronising the edge anew makes up for it.
  void send(Edge& to, const Message& message);
  /// Sends waiting frames, as many as links and rate allow.
  void flush(Edges& edges);
  void flush(Edge& to) { (void)flush(to, SIZE_MAX); }
  /// Where the rate is bounded, sends the payloads that wait for it, as many as it allows.
  void take_turns(Edges& edges);
  /// When a payload that waits for the rate may be sent; kNever where none does.
  [[nodiscard]] TimePoint next(const Edges& edges) const;
  /// The rate has no bound any more: this worker leaves.
  void hurry() { pacer_ = Pacer(); }

 private:
  /// Payloads that wait since before `header`'s epochs are worth nothing to the neighbour, which
  /// drops them; what of them it still needs is sent again. Over a thin link or under a low rate
  /// they would hold that up.
  void drop_older(Connection& link, const MessageHeader& header);
  /// Sends so many payloads at most, and what has none before and between them. Returns how many.
  std::size_t flush(Edge& to, std::size_t payloads);

  Transport& transport_;
  std::size_t most_;
  std::uint64_t& dropped_;
  Integrity links_;
  Pacer pacer_;
  Rank served_ = kNoRank;  ///< whose payload was sent last, where the rate is bounded
};

}  // namespace stencil
