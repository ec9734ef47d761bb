#pragma once

#include <cstdint>

#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"

namespace stencil {

/// All that is about when a worker may offer, and when it has others wait for its answer. Both ends
/// of an edge go by the same turns (see Turns), so both want the edge at the same time, and what
/// one asks for the other need not. Keeps true:
///
///  1. While turns are kept a bucket goes on to the next neighbour only when it has been averaged
///     with the one before: what is offered to us before its turn waits (must_hold()), and what
///     we would offer before its turn is not ready (SweepBook).
///  2. Turns are kept from the first part of a step that is made until the pause at its boundary is
///     over. Over links too slow to pause for, what comes out of turn is worth more than what comes
///     too late.
///  3. What shows a step that the bucket has not made here yet waits until it has, if the neighbour
///     is in step with us; or the average would lack that step.
///  4. Nobody waits for anybody in a circle: a step is made without waiting, a turn waits for turns
///     of lower numbers alone, and every wait ends by itself (held_until()).
///  5. An offer that crosses one of ours which is not made yet waits for that.
///  6. A sweep of a boundary asks only for buckets that have made its step, and not before the
///     boundary has gathered.
///
/// One thread.
class TurnKeeper {
 public:
  TurnKeeper(Self& self, SweepBook& sweeps) : self_(self), sweeps_(sweeps) {}

  /// The step under way has been made in buckets `from` on. False: nothing new.
  bool on_made(std::uint32_t from);
  /// The boundary of `step` was passed.
  void on_boundary(TimePoint now, std::uint64_t step);
  /// False: it waits for that already.
  bool on_pause(Pause pause);
  /// The worker's state has changed: all of its model is there to be asked for.
  void on_state() { made_from_ = 0; }
  /// The sweeps of a boundary have begun: what they have to bring is due from now on.
  void note_due() { due_ = sweeps_.left(); }

  /// Plans the sweeps that there is credit for, by turns. A turn is passed over where its partner
  /// cannot be asked, or a sweep of an earlier step with it is still under way; who has no partner
  /// in a turn sits it out.
  void plan();
  /// Sweeps that may ask from now on do; ready buckets go by how things stand.
  void open_sweeps();

  /// The first bucket that a sweep may ask for.
  [[nodiscard]] std::uint32_t first(const Sweep& sweep) const {
    return sweep.step < sweeps_.earned() ? 0 : made_from_;
  }
  /// It has begun, and is the first of its edge.
  [[nodiscard]] bool may_offer(const Sweep& sweep) const {
    return sweep.begun && sweeps_.is_first(sweep);
  }
  /// The step whose boundary is to come has been made in this bucket.
  [[nodiscard]] bool is_ahead(std::uint32_t bucket) const {
    return making() && bucket >= made_from_;
  }
  /// A sweep of the step under way.
  [[nodiscard]] bool is_ahead(const Sweep& sweep) const {
    return making() && sweep.step == sweeps_.earned();
  }

  /// Whether an offer of theirs has to wait now.
  [[nodiscard]] bool must_hold(TimePoint now, Neighbour& neighbour, const HeldOffer& held);
  /// When it waits no longer: before its reply is taken for lost; and while nothing of a step is
  /// made here, before links that have much to carry have stood idle for long.
  [[nodiscard]] TimePoint held_until(const HeldOffer& held) const;
  /// What they asked for need not be asked for as well: it brought the newest of both. The sweep
  /// that it is struck off; null where there is none.
  Sweep* met(const Neighbour& neighbour, std::uint32_t bucket);

  /// Numbers for Neighbour::ask_order.
  [[nodiscard]] std::uint64_t next_ask() { return ++asks_; }

  [[nodiscard]] Pause pause() const { return pause_; }
  /// Buckets still to exchange by sweeps under way; and that number as of the last boundary.
  [[nodiscard]] std::uint64_t unswept() const { return sweeps_.left(); }
  [[nodiscard]] std::uint64_t due() const { return due_; }

 private:
  void earn();
  /// A part of the step under way has been made.
  [[nodiscard]] bool making() const { return sweeps_.earned() > self_.step(); }
  [[nodiscard]] bool in_turns() const;

  Self& self_;
  SweepBook& sweeps_;
  Pause pause_ = Pause::kNone;
  bool paused_ = false;          ///< at the last boundary
  std::uint32_t made_from_ = 0;  ///< what sweeps of the newest step may bring
  std::uint64_t due_ = 0;
  std::uint64_t turn_ = 0;  ///< the next one
  std::uint64_t asks_ = 0;
};

}  // namespace stencil
