#pragma once

#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// How long a step boundary waits for its own sweeps, so that the next gradient is taken near the
/// mean (adapt, then combine; Cattivelli and Sayed 2010) and not with the newest update of this
/// worker alone in it (combine, then adapt): a share of the worker's own step at most, and not at
/// all where a whole step was not enough for the last sweeps, for then it would wait in vain each
/// time. Nobody else's step is waited for: neighbours answer in the middle of theirs.
///
/// One thread; without a clock.
class Linger {
 public:
  /// `share` of a step, from 0: never.
  explicit Linger(double share) : share_(share) {}

  /// A boundary at `now`; `swept`: the last one's sweeps are complete. Returns until when to wait
  /// for this one's: `now` for not at all.
  TimePoint until(TimePoint now, bool swept);
  /// The next step begins.
  void resumed(TimePoint now) { resumed_ = now; }

 private:
  double share_;
  std::optional<TimePoint> resumed_;
  double step_ = 0;  ///< seconds, decayed mean
};

}  // namespace stencil
