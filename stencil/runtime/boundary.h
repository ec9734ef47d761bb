#pragma once

#include <cstdint>

#include "stencil/core/types.h"
#include "stencil/engine/engine.h"
#include "stencil/runtime/linger.h"
#include "stencil/runtime/phase_lock.h"

namespace stencil {

/// What a step boundary waits for in modes async and bounded, all of it for a share of a step at
/// most: first for neighbours that are about to end their step too (PhaseLock), so that the sweeps
/// which then begin bring their newest steps; then for these sweeps (Linger), so that the next
/// gradient is taken near the mean. Where links are too slow for sweeps to come back in time it
/// waits for neither.
///
/// Not thread-safe; without a clock.
class Boundary {
 public:
  Boundary(double phase_lock, double linger) : lock_(phase_lock), linger_(linger) {}

  /// The boundary of `step` is reached: the model as it is can be folded, and advance() called.
  void begin(TimePoint now, std::uint64_t step);
  /// What the engine knows; whenever it may know more.
  void note(TimePoint now, const Engine& engine);
  /// Goes on where what it waits for has come, or will not in time. To be called when a phase is
  /// over; the phase is then the one that begins.
  Pause advance(TimePoint now);

  /// For Standing::pause.
  [[nodiscard]] Pause pause() const { return pause_; }
  /// It is over as far as is known at `now`: advance() changes it.
  [[nodiscard]] bool over(TimePoint now) const;
  /// When it is over at the latest; kNever where nothing is waited for.
  [[nodiscard]] TimePoint until() const;

 private:
  PhaseLock lock_;
  Linger linger_;
  Pause pause_ = Pause::kNone;
  std::uint64_t step_ = 0;
  TimePoint sweeps_until_{};
};

}  // namespace stencil
