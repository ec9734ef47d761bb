#pragma once

#include <cstdint>
#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// How long a step boundary waits for its own sweeps, so that the next gradient is taken near the
/// mean (adapt, then combine; Cattivelli and Sayed 2010) and not with the newest update of this
/// worker alone in it (combine, then adapt): a share of the worker's own step at most, and only
/// where that is worth it: where a quarter of the last boundary's sweeps came back within as long.
/// Nobody else's step is waited for here (but see PhaseLock): neighbours answer in the middle of
/// theirs.
///
/// Not thread-safe; without a clock.
class Linger {
 public:
  /// `share` of a step, from 0: never.
  explicit Linger(double share) : share_(share) {}

  /// A boundary's sweeps begin after `now`; its step ended so much `earlier`. Returns until when to
  /// wait for them: `now` for not at all.
  TimePoint boundary(TimePoint now, Duration earlier = {});
  /// Once its sweeps have begun, and whenever they may have gone on: of the `due` buckets that it
  /// wants to bring, `left` are still to come back.
  void sweeping(TimePoint now, std::uint64_t due, std::uint64_t left);
  /// The last boundary's sweeps came back soon enough for it.
  [[nodiscard]] bool worthwhile() const { return worthwhile_; }
  /// None is.
  [[nodiscard]] bool complete() const { return complete_; }
  /// The next step begins.
  void resumed(TimePoint now) { resumed_ = now; }

 private:
  double share_;
  std::optional<TimePoint> resumed_;
  double step_ = 0;  ///< seconds, decayed mean

  TimePoint began_{};  ///< the last boundary
  bool idle_ = false;  ///< it had no sweeps to begin
  bool complete_ = false;
  bool worthwhile_ = false;
  std::optional<Duration> came_;  ///< until a quarter of its buckets were back, where that is
  std::optional<Duration> took_;  ///< the same of the last boundary that was not idle
};

}  // namespace stencil
