#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/core/types.h"

namespace stencil {

/// One pass over all buckets with one neighbour.
struct Sweep {
  Rank rank = kNoRank;
  std::uint64_t step = 0;       ///< whose boundary it belongs to
  bool in_turn = false;         ///< planned by turns; the neighbour's offers count for it
  bool begun = false;           ///< may ask; until then it only counts
  std::vector<bool> pending;    ///< buckets not yet offered
  std::uint32_t unasked = 0;    ///< how many of them
  std::uint32_t unsettled = 0;  ///< offered, not yet answered
  std::uint32_t cursor = 0;

  // In shared memory.
  std::uint32_t held = 0;  ///< buckets found held since the last pause
  std::uint32_t pauses = 0;
  TimePoint resume{};  ///< not before: what is left is held by other processes
};

/// Which buckets are asked for, and how often each may answer meanwhile: the stability rule.
///
/// A bucket has at most one open request of its own. With none open a worker answers with 1/2;
/// while one is open with 1/3, at most three times; further askers are declined as busy. So ruled,
/// the sum of squared distances to the mean (deltas in flight counted) plus weighted squares of
/// what is open never increases, whatever the delays.
class BucketBook {
 public:
  explicit BucketBook(std::uint32_t buckets) : state_(buckets) {}

  [[nodiscard]] bool is_open(std::uint32_t bucket) const { return state_[bucket].open; }
  void open(std::uint32_t bucket) { state_[bucket] = {true, 0}; }
  void close(std::uint32_t bucket) { state_[bucket] = {false, 0}; }

  /// Divisor to answer with (2 or 3), or nothing for busy. Counts the answer.
  std::optional<std::uint8_t> admit(std::uint32_t bucket) {
    State& s = state_[bucket];
    if (!s.open) return 2;
    if (s.answers == 3) return std::nullopt;
    ++s.answers;
    return 3;
  }

 private:
  struct State {
    bool open = false;
    std::uint8_t answers = 0;
  };
  std::vector<State> state_;
};

/// The sweeps under way or planned, in the order in which they were planned, and the credit for new
/// ones. Of those with one neighbour only the first asks.
class SweepBook {
 public:
  SweepBook(std::uint32_t buckets, std::uint32_t per_mille);

  /// A step boundary was passed: credit grows, up to what one step brings and the
  /// fraction of a sweep that was left.
  void earn();
  /// Steps that it was for.
  [[nodiscard]] std::uint64_t earned() const { return earned_; }
  [[nodiscard]] bool may_begin() const { return credit_ >= 1000; }
  void spend() { credit_ -= 1000; }
  /// A new sweep, the last of active().
  Sweep& begin(Rank rank, bool in_turn);

  /// The first with this neighbour.
  [[nodiscard]] Sweep* find(Rank rank);
  [[nodiscard]] bool is_first(const Sweep& sweep) const;
  /// The first in turn with this neighbour that has still to bring `bucket`, unasked.
  [[nodiscard]] Sweep* find_turn(Rank rank, std::uint32_t bucket);
  /// A turn before `sweep` of the same step has still to bring `bucket`.
  [[nodiscard]] bool blocked(const Sweep& sweep, std::uint32_t bucket) const;
  [[nodiscard]] std::vector<Sweep>& active() { return active_; }
  [[nodiscard]] const std::vector<Sweep>& active() const { return active_; }

  /// Buckets that those under way have still to bring.
  [[nodiscard]] std::uint64_t left() const;

  /// Next of the first `count` buckets of `sweep` that is `free(bucket)`; nothing when none is.
  template <typename Free>
  [[nodiscard]] static std::optional<std::uint32_t> next(Sweep& sweep, std::uint32_t count,
                                                         Free free) {
    for (std::uint32_t looked = 0; sweep.unasked > 0 && looked < count; ++looked) {
      const std::uint32_t bucket = sweep.cursor < count ? sweep.cursor : 0;
      sweep.cursor = bucket + 1;
      if (!sweep.pending[bucket] || !free(bucket)) continue;
      take(sweep, bucket);
      return bucket;
    }
    return std::nullopt;
  }
  /// Next bucket that no request is open for.
  [[nodiscard]] static std::optional<std::uint32_t> next(Sweep& sweep, const BucketBook& book) {
    return next(sweep, static_cast<std::uint32_t>(sweep.pending.size()),
                [&](std::uint32_t bucket) { return !book.is_open(bucket); });
  }
  /// A pending bucket is asked for.
  static void take(Sweep& sweep, std::uint32_t bucket);

  /// Ends one of active(), complete or not; all with this neighbour.
  void end(const Sweep& sweep);
  void end_all(Rank rank);

 private:
  std::uint32_t buckets_;
  std::uint32_t per_mille_;
  std::uint32_t credit_ = 0;
  std::uint64_t earned_ = 0;
  std::vector<Sweep> active_;
  std::vector<Sweep> spare_;  ///< ended sweeps, kept for their memory
};

}  // namespace stencil
