#pragma once

#include "stencil/core/random.h"
#include "stencil/engine/bound.h"
#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"
#include "stencil/engine/shared_exchange.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// Whom a worker asks, after every input. While training sweeps go by turns; besides these:
///
///  - mode bounded: a neighbour without whose sweep this worker may not pass its boundary is asked
///    at once;
///  - while settling: whoever was asked longest ago, one sweep after the other.
///
/// One thread.
class Asking {
 public:
  Asking(Self& self, SweepBook& sweeps, TurnKeeper& turns, OfferExchange& exchange,
         SharedExchange& sharing, const Bound& bound);

  /// Plans sweeps, answers offers whose turn has come, and makes those that may be made.
  void issue(TimePoint now, Actions& out);
  /// When a neighbour that rests may be asked again.
  [[nodiscard]] TimePoint rest_until() const { return rest_until_; }

 private:
  [[nodiscard]] bool resting(TimePoint now, const Neighbour& neighbour) const;
  [[nodiscard]] bool may_ask(TimePoint now, const Neighbour& neighbour);
  [[nodiscard]] Neighbour* choose(TimePoint now);

  Self& self_;
  SweepBook& sweeps_;
  TurnKeeper& turns_;
  OfferExchange& exchange_;
  SharedExchange& sharing_;
  const Bound& bound_;
  Random random_;
  TimePoint rest_until_ = kNever;
};

}  // namespace stencil
