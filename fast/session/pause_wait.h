#pragma once

#include <atomic>
#include <functional>

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
  /// Training thread: the same until `over()`, which becomes true then at the latest.
  void wait(const std::function<bool()>& over);
  /// Background thread, before each turn: see Pauses::present().
  [[nodiscard]] stencil::Pause present(stencil::TimePoint now, stencil::Pause told) const {
    return pauses_.present(now, told);
  }
  /// Background thread: see Pauses::has_come().
  [[nodiscard]] bool has_come(stencil::TimePoint now, std::uint32_t bucket) const {
    return pauses_.has_come(now, bucket, bucket + 1);
  }
  /// Background thread: when that changes although nothing comes.
  [[nodiscard]] stencil::TimePoint changes(stencil::TimePoint now) const {
    return pauses_.changes(now);
  }
  /// Background thread, after each turn: passes on what the engine knows.
  void note(stencil::TimePoint now, const stencil::Engine& engine);

 private:
  stencil::Pauses& pauses_;
  stencil::Mutex mutex_;  ///< held between looking at pauses_ and sleeping
  stencil::Condition over_;
  std::atomic<bool> for_part_{false};  ///< each turn may end the present wait
};

}  // namespace fast
