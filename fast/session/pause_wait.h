#pragma once

#include "stencil/runtime/pauses.h"
#include "stencil/threads/mutex.h"

namespace fast {

/// How the training thread sleeps through the pauses of a boundary while the background thread
/// notes what has come.
class PauseWait {
 public:
  /// `pauses` must outlive this.
  explicit PauseWait(stencil::Pauses& pauses) : pauses_(pauses) {}

  /// Training thread: returns when the present pause is over, after a share of a step at the
  /// latest.
  void wait();
  /// Background thread, after each turn: passes on what the engine knows.
  void note(stencil::TimePoint now, const stencil::Engine& engine);

 private:
  stencil::Pauses& pauses_;
  stencil::Mutex mutex_;  ///< held between looking at pauses_ and sleeping
  stencil::Condition over_;
};

}  // namespace fast
