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
/// them, by whatever clock:
///
///     made_from(first)   while a step is made part by part: each part is folded, then told of
///     end_step()         the step is folded: neighbours are shown it
///     pause(gathering)   told; waits for neighbours that are about to end theirs
///     pause(sweeping)    told; waits for the sweeps of this boundary
///     pause(none)        told; the next step may begin, once
///     resume()           has folded what they brought, where there was something to wait for
///
/// "Told" is standing(), handed to the background work (Pump::turn()) by the caller after each of
/// these. How long the pauses are, Boundary says. Sessions wait with a condition variable, the
/// simulator with virtual time.
///
/// Training thread; nothing here waits or locks but for one pass over a bucket (see Mixer).
class StepBoundary {
 public:
  /// `mixer` must outlive this.
  explicit StepBoundary(Mixer& mixer) : mixer_(mixer), made_(mixer.layout()) {}

  /// All of `x` from `first` on has made the step under way. True where that is to be told. What is
  /// not finite, or held, is found or done at the boundary.
  bool made_from(std::span<float> x, std::size_t first);
  /// The step under way is made in all of `x`, and in the `scalars` (see Mixer::fold_telemetry()).
  /// False: the worker's own parameters are no longer numbers.
  [[nodiscard]] bool end_step(std::span<float> x, std::span<double> scalars);
  /// Instead of end_step(), where a neighbour's model was taken over since the last boundary: the
  /// step under way, which was of another model, is dropped, and `x` is what was taken over.
  [[nodiscard]] bool take_over(std::span<float> x, std::span<double> scalars);
  /// What is waited for from now on, Boundary's pause; kNone ends the boundary.
  void pause(Pause pause);
  /// After pause(kNone), which has been told. False as by end_step().
  [[nodiscard]] bool resume(std::span<float> x, std::span<double> scalars);

  /// The number of the step whose boundary end_step() passes next.
  [[nodiscard]] std::uint64_t next() const { return standing_.step + 1; }
  /// How the training thread stands; what is wanted of the background work is set here.
  [[nodiscard]] Standing& standing() { return standing_; }
  [[nodiscard]] const Standing& standing() const { return standing_; }

 private:
  Mixer& mixer_;
  MadeParts made_;
  Standing standing_;
  bool waited_ = false;  ///< at the present boundary
};

}  // namespace stencil
