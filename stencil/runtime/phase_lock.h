#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"

namespace stencil {

/// Keeps workers in step whose steps last alike. While one of them computes a gradient, everybody
/// else's come in: out of step, half a step's worth of them in the mean, which it then does not
/// know of, and momentum bears such a delay badly (bench/results/cifar10-research.md, "Workers out
/// of step"). So who ends a step waits a little for the neighbours that are about to end theirs:
///
///  - who is about to: whose boundaries so far let expect the next one within the patience left.
///    Who has just passed one is not waited for, nor who is late by more than ever is saved, such
///    as one that stands still;
///  - the patience of one boundary: what has been saved of `share` of a step for each boundary,
///    that of two at most. So waiting takes no more than `share` of a worker's time;
///  - nobody waits for a neighbour whose steps are longer or shorter than its own by more than
///    `share`: they would part again at once.
///
/// No agreement is needed and none is made: with equal workers, starting anyhow, phases come
/// together within some tens of steps, each boundary costing what the slowest of a neighbourhood
/// took longer. It is no barrier: nothing is waited for that does not come. (Coupled oscillators
/// fall into one phase by hearing of each other's firing alone: Mirollo and Strogatz 1990.)
///
/// Not thread-safe; without a clock.
class PhaseLock {
 public:
  /// Nobody is told of shorter steps, nor waited for with them.
  static constexpr Duration kShortestStep = std::chrono::milliseconds(5);

  /// `share` of a step, from 0: never.
  explicit PhaseLock(double share) : share_(share) {}

  /// What is known of the neighbours' steps.
  void hear(const Neighbours& neighbours);
  /// A step of one's own ends; not `worthwhile`: it is not waited.
  void boundary(TimePoint now, bool worthwhile);
  /// Until when its boundary waits, as things stand; not after boundary() for not at all.
  [[nodiscard]] TimePoint until() const;
  /// It waits no longer; returns how long it did. To be called for each boundary.
  Duration resumed(TimePoint now);

 private:
  struct Phase {
    bool training = false;
    TimePoint stepped{};
    Duration every{};
  };
  [[nodiscard]] bool awaited(const Phase& theirs) const;

  double share_;
  std::vector<Phase> neighbours_;
  std::optional<TimePoint> resumed_;
  Duration step_{};   ///< of one's own, all but these waits; decayed mean
  Duration saved_{};  ///< that may be waited; below 0 after a wait that took longer than meant
  TimePoint boundary_{};
  TimePoint latest_{};  ///< that this boundary may wait
};

}  // namespace stencil
