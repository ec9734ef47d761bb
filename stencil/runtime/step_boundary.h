#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stencil/core/layout.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/made_parts.h"
#include "stencil/runtime/pump_status.h"

namespace stencil {

/// The step boundaries of one worker in modes async and bounded, as its training thread passes
/// them. It has no clock. The calls of one step:
///
///     begin()            once, before the first step
///     made_from(first)   while a step is taken part by part: each part is folded, then told
///     end_step()         the step is folded: neighbours are shown it
///     pause(gathering)   told; waits for neighbours that are about to end theirs
///     pause(sweeping)    told; waits for the sweeps of this boundary
///     pause(none)        told; the next step may begin, once
///     resume()           folds what the sweeps brought, where there was a wait
///
/// "Told" means that the caller hands standing() to the background work (Pump::turn()) after each
/// of these. Boundary decides the length of the pauses. Sessions wait with a condition variable,
/// the simulator with virtual time.
///
/// Training thread. Nothing here waits; a lock is held for one pass over a bucket (see Mixer).
class StepBoundary {
 public:
  /// `mixer` must outlive this.
  explicit StepBoundary(Mixer& mixer) : mixer_(mixer), made_(mixer.layout()) {}

  /// The first step begins. Takes in what neighbours that began earlier have moved this model by
  /// while it waited. Returns false as end_step() does.
  [[nodiscard]] bool begin(std::span<float> x, std::span<double> scalars);
  /// All of `x` from `first` on holds the step in progress and does not change before end_step().
  /// Returns true where the caller must tell standing(). Values that are not finite are found at
  /// the boundary, and locked buckets are folded there.
  bool made_from(std::span<float> x, std::size_t first);
  /// The part of x that made_from() would fold; of size 0 where it would do nothing.
  [[nodiscard]] BucketRange would_be_made(std::size_t first) const;
  /// The step in progress is complete in all of `x` and in the `scalars` (see
  /// Mixer::fold_telemetry()). Returns false where a parameter of the worker's own is NaN or
  /// infinite.
  [[nodiscard]] bool end_step(std::span<float> x, std::span<double> scalars);
  /// Call it instead of end_step() where a neighbour's model was adopted since the last boundary.
  /// Drops the step in progress, which was of another model, and sets `x` to the adopted model.
  [[nodiscard]] bool take_over(std::span<float> x, std::span<double> scalars);
  /// Sets what the boundary waits for from now on (Boundary::pause()); kNone ends the boundary.
  void pause(Pause pause);
  /// Call it after pause(kNone) has been told. Returns false as end_step() does.
  [[nodiscard]] bool resume(std::span<float> x, std::span<double> scalars);

  /// The number of the step whose boundary end_step() passes next.
  [[nodiscard]] std::uint64_t next() const { return standing_.step + 1; }
  /// The state of the training thread. The caller sets here what it wants from the background work.
  [[nodiscard]] Standing& standing() { return standing_; }
  [[nodiscard]] const Standing& standing() const { return standing_; }

 private:
  Mixer& mixer_;
  MadeParts made_;
  Standing standing_;
  bool made_finite_ = true;  ///< all parts of the step in progress that are folded
  bool waited_ = false;      ///< at the present boundary
};

}  // namespace stencil
