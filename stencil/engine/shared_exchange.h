#pragma once

#include <cstdint>

#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// Exchanges through shared memory: which buckets, when, and with what outcome. An exchange there
/// is a request that is answered and complete at once. Invariants:
///
///  1. No bucket is exchanged this way while a request of ours is open on it.
///  2. Nothing is exchanged before a boundary. The neighbour's memory does not say whether a bucket
///     already holds its step in progress, and these exchanges are so fast that there is little to
///     gain.
///  3. A bucket that is about to be exchanged this way is not offered elsewhere until then, since
///     an offer would keep it open for much longer.
///  4. A bucket that another process holds is tried again a few times, and then left out of the
///     sweep.
///
/// One thread.
class SharedExchange {
 public:
  SharedExchange(Self& self, SweepBook& sweeps, TurnKeeper& turns, OfferExchange& exchange)
      : self_(self), sweeps_(sweeps), turns_(turns), exchange_(exchange) {}

  /// Updates which sweeps claim their buckets, see SweepBook.
  void claim(TimePoint now);
  /// Appends the next few Share. Returns a few at a time, so that the caller can serve the network
  /// in between.
  void take(TimePoint now, Actions& out);
  /// The outcome of one Share.
  void on_share(TimePoint now, const Neighbour& neighbour, std::uint32_t bucket,
                ShareResult result);
  /// When take() has some; kNever where that needs another input first.
  [[nodiscard]] TimePoint next();

 private:
  [[nodiscard]] bool may_share(TimePoint now, const Sweep& sweep) const;
  void note_locked(TimePoint now, Sweep& sweep, std::uint32_t bucket);

  Self& self_;
  SweepBook& sweeps_;
  TurnKeeper& turns_;
  OfferExchange& exchange_;
};

}  // namespace stencil
