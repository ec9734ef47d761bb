#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/engine/bucket_book.h"
#include "stencil/engine/bucket_set.h"
#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// One pass over all buckets with one neighbour.
struct Sweep {
  Neighbour* neighbour = nullptr;
  std::uint64_t step = 0;        ///< the step whose boundary it belongs to
  bool in_turn = false;          ///< planned by turns; the neighbour's offers count for it
  bool begun = false;            ///< it may make offers; until then only the neighbour's count
  BucketSet pending;             ///< buckets not yet offered
  std::uint32_t unasked = 0;     ///< how many of them
  std::uint32_t unanswered = 0;  ///< offered, not yet answered
  std::uint32_t cursor = 0;

  // In shared memory.
  bool claims = false;       ///< the pending buckets are about to be exchanged: no offers meanwhile
  std::uint32_t locked = 0;  ///< buckets found held since the last pause
  std::uint32_t pauses = 0;
  TimePoint resume{};  ///< try again from this time on: other processes hold the rest

  BucketSet ready;  ///< those of `pending` that may be asked for now; owned by SweepBook

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.neighbour, v.step, v.in_turn, v.begun, v.pending, v.unasked, v.unanswered, v.cursor,
      v.claims, v.locked, v.pauses, v.resume, v.ready);
  }
};

/// The sweeps planned or in progress, in the order of planning, and the credit for new ones. Of
/// several sweeps with one neighbour only the first makes offers. Keeps, for each sweep, the set of
/// buckets that may be asked for now, so that the next one is found without a search. A bucket may
/// be asked for where all of these hold:
///
///  - it is pending, and no request of ours is open on it;
///  - no earlier turn of the same step still has to bring it, if turns are kept (set_rules()) and
///    the sweep is in turn;
///  - no sweep in shared memory claims it, unless this is one.
class SweepBook {
 public:
  /// `looked`, which must outlive this, counts words read, see BucketSet::next().
  SweepBook(std::uint32_t buckets, std::uint64_t& looked);

  // Credit.
  /// A step boundary was passed, and a step has so many thousandths of a sweep: credit grows, up to
  /// one step's sweeps plus the fraction of a sweep that was left.
  void earn(std::uint32_t per_mille);
  /// Steps for which credit was earned.
  [[nodiscard]] std::uint64_t earned() const { return earned_; }
  [[nodiscard]] bool may_begin() const { return credit_ >= 1000; }
  void spend() { credit_ -= 1000; }

  // Sweeps.
  /// A new sweep, the last of active().
  Sweep& begin(Neighbour& neighbour, bool in_turn);
  /// The first sweep with this neighbour; null where there is none.
  [[nodiscard]] Sweep* find(const Neighbour& neighbour);
  [[nodiscard]] bool is_first(const Sweep& sweep) const;
  /// The first sweep in turn with this neighbour that still has to bring `bucket` and has not asked
  /// for it.
  [[nodiscard]] Sweep* find_turn(const Neighbour& neighbour, std::uint32_t bucket);
  /// Whether an earlier turn of the step of `sweep` still has to bring `bucket`.
  [[nodiscard]] bool blocked(const Sweep& sweep, std::uint32_t bucket) const;
  [[nodiscard]] std::vector<Sweep>& active() { return active_; }
  [[nodiscard]] const std::vector<Sweep>& active() const { return active_; }
  /// Buckets left to exchange in the current sweeps.
  [[nodiscard]] std::uint64_t left() const;
  /// The same as a set, which is of the model's buckets; a bucket that is asked for is in it.
  void left(BucketSet& buckets) const;
  /// Ends one of active(), complete or not; or all with this neighbour.
  void end(const Sweep& sweep);
  void end_all(const Neighbour& neighbour);

  // Buckets.
  [[nodiscard]] const BucketBook& buckets() const { return buckets_; }
  void open(std::uint32_t bucket);
  void close_request(std::uint32_t bucket);
  std::optional<std::uint8_t> admit(std::uint32_t bucket) { return buckets_.admit(bucket); }

  /// Sets the rules for ready buckets: whether turns are kept, and that sweeps of the newest step
  /// may claim only buckets from `made_from` on.
  void set_rules(bool in_turns, std::uint32_t made_from);
  void set_claim(Sweep& sweep, bool claims);
  /// A neighbour's shared memory was mapped or unmapped.
  void sharing_changed() { stale_ = true; }
  /// The next ready bucket of `sweep` from its cursor on, cyclically among `first` .. `end` - 1;
  /// nothing where there is none.
  [[nodiscard]] std::optional<std::uint32_t> next(const Sweep& sweep, std::uint32_t first,
                                                  std::uint32_t end);
  /// A pending bucket is asked for; the cursor moves past it.
  void take(Sweep& sweep, std::uint32_t bucket);
  /// The request for a bucket came to nothing: the bucket is pending again.
  void put_back(Sweep& sweep, std::uint32_t bucket);
  /// strike(): a pending bucket need not be asked for any more. unstrike(): it must be after all.
  void strike(Sweep& sweep, std::uint32_t bucket);
  void unstrike(Sweep& sweep, std::uint32_t bucket);

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.credit_, v.earned_, v.buckets_, v.active_, v.in_turns_, v.made_from_, v.stale_);
    a.expect(v.is_sound());
  }

 private:
  /// Whether all sets are of the model's buckets, as they are unless they were read.
  [[nodiscard]] bool is_sound() const;
  void set_pending(Sweep& sweep, std::uint32_t bucket, bool pending);
  void refresh(std::uint32_t bucket);
  void refresh_all();
  [[nodiscard]] bool claimed(std::uint32_t bucket) const;
  [[nodiscard]] BucketSet::Word claimed_word(std::size_t index) const;
  [[nodiscard]] BucketSet::Word blocked_word(const Sweep& sweep, std::size_t index) const;
  [[nodiscard]] bool heeds_turns(const Sweep& sweep) const { return in_turns_ && sweep.in_turn; }

  std::uint32_t count_;
  std::uint64_t& looked_;
  std::uint32_t credit_ = 0;
  std::uint64_t earned_ = 0;
  BucketBook buckets_;
  std::vector<Sweep> active_;
  std::vector<Sweep> spare_;  ///< ended sweeps, kept for their memory
  bool in_turns_ = false;
  std::uint32_t made_from_ = 0;
  bool stale_ = false;  ///< `ready` of every sweep must be recomputed
};

}  // namespace stencil
