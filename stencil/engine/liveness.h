#pragma once

#include "stencil/engine/handshake.h"
#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"

namespace stencil {

/// Whether a neighbour is there, and whether what was asked of it comes. Keeps true:
///
///  1. Who is silent for suspect_after and the time of a round trip to it, or has lost its link,
///     holds up no bucket, and nobody waits for it; it is heard again as soon as it speaks.
///  2. Who is silent for gone_after, if that is longer, is given up: what was under way with it is
///     lost, and counted.
///  3. An edge on which nothing of what was asked for comes for reply_deadline, and the time of a
///     round trip, is begun anew.
///  4. A neighbour that is up hears of us every heartbeat_every at the latest.
///
/// One thread.
class Liveness {
 public:
  Liveness(Self& self, Handshake& handshake, OfferExchange& exchange)
      : self_(self), handshake_(handshake), exchange_(exchange) {}

  /// A message of the present connection came: its sender is alive, in the state that `header`
  /// gives.
  void heard(TimePoint now, Neighbour& neighbour, const MessageHeader& header);
  void on_link_down(Neighbour& neighbour);
  void tick(TimePoint now, Neighbour& neighbour, Actions& out);
  /// When tick() wants to be called at the latest.
  [[nodiscard]] TimePoint next(const Neighbour& neighbour) const;

 private:
  void suspect(Neighbour& neighbour);
  [[nodiscard]] TimePoint suspect_at(const Neighbour& neighbour) const;
  /// To a neighbour and back, as measured; no more than gone_after.
  [[nodiscard]] Duration trip(const Neighbour& neighbour) const;
  [[nodiscard]] TimePoint gone_at(const Neighbour& neighbour) const;
  [[nodiscard]] TimePoint reply_due(const Neighbour& neighbour) const;
  [[nodiscard]] bool awaits_reply(const Neighbour& neighbour) const {
    return neighbour.state == LinkState::kUp && !neighbour.book.open.empty();
  }

  Self& self_;
  Handshake& handshake_;
  OfferExchange& exchange_;
};

}  // namespace stencil
