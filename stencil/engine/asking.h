#pragma once

#include "stencil/core/random.h"
#include "stencil/engine/bound.h"
#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"
#include "stencil/engine/shared_exchange.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// Chooses whom a worker asks, after every input. While training, sweeps go by turns. Besides
/// these:
///
///  - mode bounded: where this worker may not pass its boundary without a sweep with a neighbour,
///    it asks that neighbour at once;
///  - while settling: it asks the neighbour asked longest ago, one sweep after the other.
///
/// One thread.
class Asking {
 public:
  Asking(Self& self, SweepBook& sweeps, TurnKeeper& turns, OfferExchange& exchange,
         SharedExchange& sharing, const Bound& bound);

  /// Plans sweeps, answers held offers whose turn has come, and makes the offers that may be made.
  void issue(TimePoint now, Actions& out);
  /// When a neighbour that is left alone for a while (see resting()) may be asked again.
  [[nodiscard]] TimePoint rest_until() const { return rest_until_; }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.random_, v.rest_until_);
  }

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
