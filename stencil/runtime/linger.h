#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "stencil/core/types.h"

namespace stencil {

/// How long a step boundary waits for its own sweeps, so that the next gradient is taken near the
/// mean (adapt-then-combine; Cattivelli and Sayed 2010) and not at a model with only this worker's
/// newest update in it (combine-then-adapt). It waits a share of the worker's own step at most, and
/// only where a quarter of the last boundary's sweeps came back within that time. It does not wait
/// for the end of a neighbour's step, as PhaseLock does: neighbours answer in mid-step.
///
/// Steps may be much shorter than an exchange. A worker with such steps would end its training
/// before its first average. So the boundary waits for an exchange of up to kQuick, however short
/// the step is. To learn whether exchanges take longer, it waits in vain a few times: in a row at
/// the start, rarely afterwards.
///
/// Not thread-safe; without a clock.
class Linger {
 public:
  /// An exchange that takes no longer is waited for, whatever share of a step that is.
  static constexpr Duration kQuick = std::chrono::milliseconds(1);

  /// `share` of a step, from 0: never.
  explicit Linger(double share) : share_(share) {}

  /// A boundary's sweeps begin at `now`; its step ended `earlier` before that. `reachable` says
  /// whether any neighbour is there to exchange with. Returns until when to wait for the sweeps;
  /// `now` means not at all.
  TimePoint boundary(TimePoint now, Duration earlier = {}, bool reachable = true);
  /// Call it once the sweeps have begun and whenever they may have progressed. Of their `due`
  /// buckets, `left` are not back yet. `expected`: a neighbour is about to begin its training.
  void sweeping(TimePoint now, std::uint64_t due, std::uint64_t left, bool expected = false);
  /// Whether the last boundary's sweeps came back soon enough to wait.
  [[nodiscard]] bool worthwhile() const { return worthwhile_; }
  /// Whether all sweeps of the last boundaries that waited for them came back meanwhile.
  [[nodiscard]] bool in_time() const { return late_ == 0; }
  /// Whether no bucket is left.
  [[nodiscard]] bool complete() const { return complete_; }
  /// The next step begins, while this boundary's sweeps may still be waited for in the middle of
  /// it: resumed() then follows when they are not any more.
  void goes_on(TimePoint now);
  /// The next step begins. `behind`: a neighbour in pace has not ended this step yet, so sweeps
  /// with it cannot have come back, however quick they are.
  void resumed(TimePoint now, bool behind = false);

 private:
  [[nodiscard]] bool may_be_quick(TimePoint now) const;

  double share_;
  std::optional<TimePoint> resumed_;
  double step_ = 0;  ///< seconds, decayed mean

  TimePoint began_{};   ///< the last boundary
  bool idle_ = false;   ///< it had no sweeps to begin
  bool going_ = false;  ///< see goes_on()
  bool complete_ = false;
  bool worthwhile_ = false;
  int late_ = 0;  ///< boundaries until it is forgotten that one's sweeps were not in time
  std::optional<Duration> came_;  ///< until a quarter of its buckets were back; or nothing
  std::optional<Duration> took_;  ///< the same of the last boundary that was not idle

  // Waits of kQuick.
  bool quick_ = false;      ///< the present boundary has one
  bool left_over_ = false;  ///< sweeps of an earlier boundary had not ended when it began
  int in_vain_ = 0;         ///< such waits in a row that ended before their sweeps
  TimePoint try_again_{};   ///< where there were too many of them
};

}  // namespace stencil
