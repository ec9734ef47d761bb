#include "stencil/runtime/boundary.h"

namespace stencil {

void Boundary::begin(TimePoint now, std::uint64_t step) {
  step_ = step;
  waited_ = false;
  phase_ = Phase::kGathering;
  lock_.boundary(now, linger_.worthwhile());
}

void Boundary::note(TimePoint now, const Engine& engine) {
  lock_.hear(engine.edges());
  // Unless it has heard of this boundary, and that its sweeps may begin, they are of the last one.
  if (phase_ == Phase::kGathering || engine.step() != step_ || engine.gathering()) return;
  if (linger_.complete()) return;
  linger_.sweeping(now, engine.due(), engine.unswept());
}

bool Boundary::over(TimePoint now) const {
  if (phase_ == Phase::kGathering) return lock_.until() <= now;
  if (phase_ == Phase::kSweeping) return linger_.complete() || sweeps_until_ <= now;
  return false;
}

Boundary::Phase Boundary::advance(TimePoint now) {
  if (phase_ == Phase::kGathering && over(now)) {
    sweeps_from_ = now;
    sweeps_until_ = linger_.boundary(now, lock_.resumed(now));
    phase_ = Phase::kSweeping;
  }
  if (phase_ == Phase::kSweeping && over(now)) {
    phase_ = Phase::kNone;
    in_time_ = linger_.complete() && 2 * (now - sweeps_from_) <= sweeps_until_ - sweeps_from_;
    linger_.resumed(now);
  }
  if (phase_ != Phase::kNone) waited_ = true;
  return phase_;
}

TimePoint Boundary::until() const {
  switch (phase_) {
    case Phase::kGathering:
      return lock_.until();
    case Phase::kSweeping:
      return sweeps_until_;
    default:
      return kNever;
  }
}

}  // namespace stencil
