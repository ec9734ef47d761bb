#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"

namespace stencil {

/// Keeps workers of about the same step length in step. While a worker computes a gradient, the
/// steps of others reach its model. Out of step, that is half a step's worth in the mean that the
/// gradient does not include: a delay, which momentum tolerates badly
/// (bench/results/cifar10-research.md, "Workers out of step"). So a worker that ends a step waits a
/// little for the neighbours that are about to end theirs:
///
///  - a neighbour is about to end its step where its boundaries so far predict the next one within
///    the patience left. A neighbour that has just passed a boundary is not waited for, nor one
///    that is late by more than the largest patience, such as one that stands still;
///  - patience is saved: each boundary adds `share` of a step, up to that of two boundaries. So
///    waiting takes no more than `share` of a worker's time;
///  - a worker does not wait for a neighbour whose steps are longer or shorter than its own by more
///    than `share`: the two would drift apart again at once.
///
/// Workers need no agreement for this. The phases of equal workers come together within some tens
/// of steps, however they start, and each boundary then costs the delay of the slowest of a
/// neighbourhood. It is not a barrier, since every wait is bounded. (Coupled oscillators
/// synchronise by their pulses alone: Mirollo and Strogatz 1990.)
///
/// Not thread-safe; without a clock.
class PhaseLock {
 public:
  /// Shorter steps than this are neither announced nor waited for.
  static constexpr Duration kShortestStep = std::chrono::milliseconds(5);

  /// `share` of a step, from 0: never.
  explicit PhaseLock(double share) : share_(share) {}

  /// Takes over what is known about the neighbours' steps.
  void hear(const Neighbours& neighbours);
  /// A step of this worker ends at `now`. Where waiting is not `worthwhile`, this boundary does not
  /// wait.
  void boundary(TimePoint now, bool worthwhile);
  /// Until when the boundary waits, as far as is known; not later than the time given to boundary()
  /// where it does not wait.
  [[nodiscard]] TimePoint until() const;
  /// The boundary stops waiting; returns how long it waited. Call it once for each boundary.
  Duration resumed(TimePoint now);
  /// Whether a neighbour whose steps are about as long has not ended the step of the last boundary
  /// yet, as far as is known.
  [[nodiscard]] bool behind() const;

 private:
  struct Phase {
    bool training = false;
    TimePoint stepped{};
    Duration every{};
  };
  [[nodiscard]] bool in_step(const Phase& theirs) const;
  [[nodiscard]] bool just_passed(const Phase& theirs) const;
  [[nodiscard]] bool awaited(const Phase& theirs) const;

  double share_;
  std::vector<Phase> neighbours_;
  std::optional<TimePoint> resumed_;
  Duration step_{};   ///< this worker's step without these waits; decayed mean
  Duration saved_{};  ///< the patience saved; below 0 after a wait that took too long
  TimePoint boundary_{};
  TimePoint latest_{};  ///< until when this boundary may wait
};

}  // namespace stencil
