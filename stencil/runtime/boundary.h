#pragma once

#include <cstdint>

#include "stencil/core/types.h"
#include "stencil/engine/engine.h"
#include "stencil/runtime/likeness.h"
#include "stencil/runtime/linger.h"
#include "stencil/runtime/phase_lock.h"

namespace stencil {

/// Decides what a step boundary waits for in modes async and bounded, and how long: a share of a
/// step at most. First it waits for neighbours that are about to end their step too (PhaseLock), so
/// that the sweeps that follow bring their newest steps. Then it waits for these sweeps (Linger),
/// so that the next gradient is taken near the mean. Where links are too slow for sweeps to come
/// back in time, it waits for neither.
///
/// Not thread-safe; without a clock.
class Boundary {
 public:
  Boundary(double phase_lock, double linger) : lock_(phase_lock), linger_(linger) {}

  /// The boundary of `step` is reached. The model may be folded now, and advance() called.
  void begin(TimePoint now, std::uint64_t step);
  /// Takes over what the engine knows of neighbours and sweeps. Call it whenever that may have
  /// changed.
  void note(TimePoint now, const Engine& engine);
  /// How like the steps of this worker and its neighbours are in length; see Likeness.
  [[nodiscard]] double likeness(TimePoint now) const { return likeness_.at(now); }
  /// Moves to the next phase where the present one is over(), and returns the phase that then
  /// holds.
  Pause advance(TimePoint now);

  /// For Standing::pause.
  [[nodiscard]] Pause pause() const { return pause_; }
  /// Whether the present phase is over as far as is known at `now`; advance() then changes it.
  [[nodiscard]] bool over(TimePoint now) const;
  /// When the present phase is over at the latest; kNever where nothing is waited for.
  [[nodiscard]] TimePoint until() const;

 private:
  PhaseLock lock_;
  Linger linger_;
  Likeness likeness_;
  Pause pause_ = Pause::kNone;
  std::uint64_t step_ = 0;
  bool reachable_ = false;  ///< a neighbour can be asked for an exchange, or soon
  TimePoint sweeps_until_{};
};

}  // namespace stencil
