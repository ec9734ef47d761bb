#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "stencil/runtime/boundary.h"

namespace fast {

/// A Boundary shared by the two threads of a worker: the training thread waits, the background
/// thread notes what has happened. Each wait ends after a share of a step at the latest.
class BoundaryWait {
 public:
  BoundaryWait(double phase_lock, double linger) : boundary_(phase_lock, linger) {}

  // Training thread.
  /// The boundary of `step` is reached, before the engine is told. Returns what to wait for.
  stencil::Pause begin(std::uint64_t step);
  /// Waits until the present phase is over. Returns the next phase.
  stencil::Pause wait();

  /// See Boundary::likeness().
  [[nodiscard]] double likeness();

  /// Background thread: passes on what the engine knows, after each turn.
  void note(stencil::TimePoint now, const stencil::Engine& engine);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  stencil::Boundary boundary_;
};

}  // namespace fast
