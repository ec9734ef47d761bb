#pragma once

#include <cstdint>
#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// How long a step boundary waits for its own sweeps, so that the next gradient is taken near the
/// mean (adapt-then-combine; Cattivelli and Sayed 2010) and not at a model with only this worker's
/// newest update in it (combine-then-adapt). It waits a share of the worker's own step at most, and
/// only where a quarter of the last boundary's sweeps came back within that time. It waits for
/// nobody's step (but see PhaseLock): neighbours answer in the middle of their steps.
///
/// Not thread-safe; without a clock.
class Linger {
 public:
  /// `share` of a step, from 0: never.
  explicit Linger(double share) : share_(share) {}

  /// A boundary's sweeps begin at `now`; its step ended `earlier` before that. Returns until when
  /// to wait for them; `now` means not at all.
  TimePoint boundary(TimePoint now, Duration earlier = {});
  /// Call it once the sweeps have begun and whenever they may have progressed. Of their `due`
  /// buckets, `left` are not back yet.
  void sweeping(TimePoint now, std::uint64_t due, std::uint64_t left);
  /// Whether the last boundary's sweeps came back soon enough to wait.
  [[nodiscard]] bool worthwhile() const { return worthwhile_; }
  /// Whether no bucket is left.
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
  std::optional<Duration> came_;  ///< until a quarter of its buckets were back; or nothing
  std::optional<Duration> took_;  ///< the same of the last boundary that was not idle
};

}  // namespace stencil
