#pragma once

#include <cstdint>

#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"

namespace stencil {

/// Decides when a worker may offer, and when it makes others wait for its answer. Both ends of an
/// edge follow the same turns (see Turns), so both want the edge at the same time, and a bucket
/// that one asks for the other need not ask for. Invariants:
///
///  1. While turns are kept, a bucket goes on to the next neighbour only when it has been averaged
///     with the one before. An offer to us before its turn is held (must_hold()), and a bucket that
///     we would offer before its turn is not ready (SweepBook).
///  2. Turns are kept from the moment that a first part of a step is ready until the pause at its
///     boundary is over. Over links too slow to pause for, an exchange out of turn is worth more
///     than a late one.
///  3. An offer that shows a step which this bucket does not hold here yet is held until it does,
///     if the neighbour is in step with us. Otherwise the average would lack that step.
///  4. Waiting has no cycles: a step is computed without waiting, a turn waits only for turns of
///     lower numbers, and every wait has a deadline (held_until()).
///  5. An offer that crosses one of ours that is not made yet is held until ours is made.
///  6. A sweep of a boundary asks only for buckets that hold its step, and not before the boundary
///     has gathered (Pause::kGathering).
///
/// One thread.
class TurnKeeper {
 public:
  TurnKeeper(Self& self, SweepBook& sweeps) : self_(self), sweeps_(sweeps) {}

  /// Buckets from `from` on hold the step in progress. Returns false where that is nothing new.
  bool on_made(std::uint32_t from);
  /// The boundary of `step` was passed.
  void on_boundary(TimePoint now, std::uint64_t step);
  /// Returns false where it already waits for that.
  bool on_pause(Pause pause);
  /// The worker's state has changed: all buckets of its model may be asked for.
  void on_state() { made_from_ = 0; }
  /// The sweeps of a boundary have begun: sets unswept_at_begin() to their buckets.
  void note_unswept() { unswept_at_begin_ = sweeps_.left(); }

  /// Plans the sweeps that there is credit for, by turns. A turn is skipped where its partner
  /// cannot be asked, or where a sweep of an earlier step with it has not ended. A worker without a
  /// partner in a turn sits it out.
  void plan();
  /// Begins the sweeps that may make offers now, and updates the rules for ready buckets.
  void open_sweeps();

  /// The first bucket that `sweep` may ask for.
  [[nodiscard]] std::uint32_t first(const Sweep& sweep) const {
    return sweep.step < sweeps_.earned() ? 0 : made_from_;
  }
  /// Whether `sweep` has begun and is the first on its edge.
  [[nodiscard]] bool may_offer(const Sweep& sweep) const {
    return sweep.begun && sweeps_.is_first(sweep);
  }
  /// Whether this bucket already holds the step in progress.
  [[nodiscard]] bool is_ahead(std::uint32_t bucket) const {
    return making() && bucket >= made_from_;
  }
  /// Whether `sweep` belongs to the step in progress.
  [[nodiscard]] bool is_ahead(const Sweep& sweep) const {
    return making() && sweep.step == sweeps_.earned();
  }

  /// Whether an offer of theirs must be held now.
  [[nodiscard]] bool must_hold(TimePoint now, Neighbour& neighbour, const HeldOffer& held);
  /// When a held offer is answered at the latest: before its reply is taken for lost, and, while
  /// nothing of a step is ready here, before a busy link has been idle for long.
  [[nodiscard]] TimePoint held_until(const HeldOffer& held) const;
  /// They asked for `bucket`, and the exchange brought the newest values of both ends, so our sweep
  /// need not ask for it. Returns the sweep that it is removed from; null where there is none.
  Sweep* strike_exchanged(const Neighbour& neighbour, std::uint32_t bucket);

  /// Numbers for Neighbour::ask_order.
  [[nodiscard]] std::uint64_t next_ask() { return ++asks_; }

  [[nodiscard]] Pause pause() const { return pause_; }
  /// Buckets left to exchange in the current sweeps; and that number when the last boundary's
  /// sweeps began.
  [[nodiscard]] std::uint64_t unswept() const { return sweeps_.left(); }
  [[nodiscard]] std::uint64_t unswept_at_begin() const { return unswept_at_begin_; }
  /// Sets `left` to the buckets that the current sweeps have yet to bring.
  void unswept(BucketSet& left) const { sweeps_.left(left); }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.pause_, v.paused_, v.made_from_, v.unswept_at_begin_, v.turn_, v.asks_);
  }

 private:
  void earn();
  /// Whether a part of the step in progress is ready.
  [[nodiscard]] bool making() const { return sweeps_.earned() > self_.step(); }
  [[nodiscard]] bool in_turns() const;

  Self& self_;
  SweepBook& sweeps_;
  Pause pause_ = Pause::kNone;
  bool paused_ = false;          ///< at the last boundary
  std::uint32_t made_from_ = 0;  ///< the first bucket that sweeps of the newest step may bring
  std::uint64_t unswept_at_begin_ = 0;
  std::uint64_t turn_ = 0;  ///< the next one
  std::uint64_t asks_ = 0;
};

}  // namespace stencil
