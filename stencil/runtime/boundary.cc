#include "stencil/runtime/boundary.h"

namespace stencil {

void Boundary::begin(TimePoint now, std::uint64_t step) {
  step_ = step;
  pause_ = Pause::kGathering;
  lock_.boundary(now, linger_.worthwhile());
}

void Boundary::note(TimePoint now, const Engine& engine) {
  lock_.hear(engine.neighbours());
  likeness_.hear(engine.steps(), engine.neighbours());
  bool expected = false;
  reachable_ = false;
  for (const Neighbour& neighbour : engine.neighbours()) {
    expected |= neighbour.up() && neighbour.report.state == WorkerState::kJoining;
    reachable_ |= neighbour.askable();
  }
  reachable_ |= expected;
  // Before the engine knows of this boundary and that its sweeps may begin, its sweeps are those of
  // the last boundary.
  if (pause_ == Pause::kGathering || engine.step() != step_ ||
      engine.turns().pause() == Pause::kGathering)
    return;
  if (linger_.complete()) return;
  linger_.sweeping(now, engine.turns().due(), engine.turns().unswept(), expected);
}

bool Boundary::over(TimePoint now) const {
  if (pause_ == Pause::kGathering) return lock_.until() <= now;
  if (pause_ == Pause::kSweeping) return linger_.complete() || sweeps_until_ <= now;
  return false;
}

Pause Boundary::advance(TimePoint now) {
  if (pause_ == Pause::kGathering && over(now)) {
    sweeps_until_ = linger_.boundary(now, lock_.resumed(now), reachable_);
    pause_ = Pause::kSweeping;
  }
  if (pause_ == Pause::kSweeping && over(now)) {
    pause_ = Pause::kNone;
    linger_.resumed(now);
  }
  return pause_;
}

TimePoint Boundary::until() const {
  switch (pause_) {
    case Pause::kGathering:
      return lock_.until();
    case Pause::kSweeping:
      return sweeps_until_;
    default:
      return kNever;
  }
}

}  // namespace stencil
