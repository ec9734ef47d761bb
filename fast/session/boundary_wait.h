#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "stencil/runtime/boundary.h"

namespace fast {

/// A Boundary between the two threads of a worker: the training thread waits, the background thread
/// notes what has come. Each wait ends by itself after a share of a step.
class BoundaryWait {
 public:
  BoundaryWait(double phase_lock, double linger) : boundary_(phase_lock, linger) {}

  // Training thread.
  /// The boundary of `step` is reached, but the engine is not told yet. Returns what it waits for.
  stencil::Pause begin(std::uint64_t step);
  /// Waits until that has come or will not in time. Returns what comes next.
  stencil::Pause wait();

  /// Background thread: what the engine knows, after each of its turns.
  void note(stencil::TimePoint now, const stencil::Engine& engine);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  stencil::Boundary boundary_;
};

}  // namespace fast
