#pragma once

#include <cstdint>

#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// Exchanging through shared memory: which buckets, when, and what became of them. An exchange
/// there is an instant request: asked, answered and settled in one. Keeps true:
///
///  1. No bucket is exchanged so while a request of ours is open on it.
///  2. Nothing is exchanged ahead of a boundary: the neighbour's memory does not say whether it has
///     made its step there yet, and all of it takes so little time that there is little to win.
///  3. A bucket that is about to be exchanged so is left alone by offers until then: that takes no
///     time, while an offer would keep it open.
///  4. What other processes hold is tried again a few times, and then left out of the sweep.
///
/// One thread.
class SharedExchange {
 public:
  SharedExchange(Self& self, SweepBook& sweeps, TurnKeeper& turns, OfferExchange& exchange)
      : self_(self), sweeps_(sweeps), turns_(turns), exchange_(exchange) {}

  /// Brings up to date which sweeps claim their buckets, see SweepBook.
  void claim(TimePoint now);
  /// Appends the next few Share. Few, so that whoever calls hears the network in between.
  void take(TimePoint now, Actions& out);
  /// What came of one.
  void on_share(TimePoint now, const Neighbour& neighbour, std::uint32_t bucket,
                ShareResult result);
  /// When take() has some; kNever where only another input can bring one.
  [[nodiscard]] TimePoint next();

 private:
  [[nodiscard]] bool may_share(TimePoint now, const Sweep& sweep) const;
  void note_held(TimePoint now, Sweep& sweep, std::uint32_t bucket);

  Self& self_;
  SweepBook& sweeps_;
  TurnKeeper& turns_;
  OfferExchange& exchange_;
};

}  // namespace stencil
