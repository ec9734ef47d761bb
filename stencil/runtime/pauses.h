#pragma once

#include <cstdint>

#include "stencil/core/types.h"
#include "stencil/engine/bucket_set.h"
#include "stencil/engine/engine.h"
#include "stencil/runtime/likeness.h"
#include "stencil/runtime/linger.h"
#include "stencil/runtime/phase_lock.h"
#include "stencil/threads/mutex.h"

namespace stencil {

/// Decides what a step boundary waits for in modes async and bounded once the step is shown, and
/// how long: a share of a step at most. First it waits for neighbours that are about to end their
/// step too (PhaseLock), so that the sweeps that follow bring their newest steps. Then it waits for
/// these sweeps (Linger), so that the next gradient is taken near the mean. Where links are too
/// slow for sweeps to come back in time, it waits for neither.
///
/// Where the next step asks for the model part by part (StepBoundary::take_in()), only the first of
/// these is a wait at the boundary. The second goes on in the middle of the step, for each part
/// until its own sweeps are back, and ends at the same time at the latest. It waits for no
/// neighbour's step then where sweeps of the last boundaries had not come back by that time: with
/// the later layers' averages under way for much of a step, little would be won.
///
/// Any thread: the training thread passes boundaries (see StepBoundary) while the background thread
/// notes what has come. Without a clock.
class Pauses {
 public:
  Pauses(double phase_lock, double linger, std::uint32_t buckets)
      : lock_(phase_lock), linger_(linger), left_(buckets) {}

  /// The boundary of `step` is reached, and the model may be folded. Returns what to wait for.
  /// `by_parts`: the next step asks for each part.
  Pause begin(TimePoint now, std::uint64_t step, bool by_parts = false);
  /// Moves to the next pause where the present one is over(), and returns the pause that then
  /// holds.
  Pause advance(TimePoint now);
  /// Ends a pause that goes on in the middle of a step, whether it is over or not.
  void end(TimePoint now);
  /// Whether the present pause is not to be waited for on account of buckets `from` .. `to` - 1:
  /// their sweeps are back, or it is over.
  [[nodiscard]] bool has_come(TimePoint now, std::uint32_t from, std::uint32_t to) const;
  /// What the engine is to be told for `told`, the pause that the training thread has told of: one
  /// that goes on in the middle of a step is over by itself, since that thread may be busy.
  [[nodiscard]] Pause present(TimePoint now, Pause told) const;
  /// When that changes although nothing comes; kNever: not after `now`.
  [[nodiscard]] TimePoint changes(TimePoint now) const;
  /// Takes over what the engine knows of neighbours and sweeps. Call it whenever that may have
  /// changed.
  void note(TimePoint now, const Engine& engine);

  /// Whether the present pause is over as far as is known at `now`; advance() then changes it.
  [[nodiscard]] bool over(TimePoint now) const;
  /// When the present pause is over at the latest; kNever where nothing is waited for.
  [[nodiscard]] TimePoint until() const;
  /// How like the steps of this worker and its neighbours are in length; see Likeness.
  [[nodiscard]] double likeness(TimePoint now) const;

 private:
  [[nodiscard]] bool is_over(TimePoint now) const FAST_REQUIRES(mutex_);
  Pause next(TimePoint now) FAST_REQUIRES(mutex_);

  mutable Mutex mutex_;
  PhaseLock lock_ FAST_GUARDED_BY(mutex_);
  Linger linger_ FAST_GUARDED_BY(mutex_);
  Likeness likeness_ FAST_GUARDED_BY(mutex_);
  Pause pause_ FAST_GUARDED_BY(mutex_) = Pause::kNone;
  std::uint64_t step_ FAST_GUARDED_BY(mutex_) = 0;
  /// A neighbour can be asked for an exchange, or soon.
  bool reachable_ FAST_GUARDED_BY(mutex_) = false;
  TimePoint sweeps_until_ FAST_GUARDED_BY(mutex_){};
  bool by_parts_ FAST_GUARDED_BY(mutex_) = false;
  bool left_known_ FAST_GUARDED_BY(mutex_) = false;  ///< left_ is of this boundary
  BucketSet left_ FAST_GUARDED_BY(mutex_);           ///< what its sweeps have yet to bring
};

}  // namespace stencil
