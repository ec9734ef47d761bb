#include "stencil/runtime/pauses.h"

namespace stencil {

Pause Pauses::begin(TimePoint now, std::uint64_t step, bool by_parts) {
  const MutexLock guard(mutex_);
  step_ = step;
  by_parts_ = by_parts;
  left_known_ = false;
  pause_ = Pause::kGathering;
  lock_.boundary(now, linger_.worthwhile() && (!by_parts || linger_.in_time()));
  return next(now);
}

void Pauses::note(TimePoint now, const Engine& engine) {
  const MutexLock guard(mutex_);
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
  linger_.sweeping(now, engine.turns().unswept_at_begin(), engine.turns().unswept(), expected);
  if (!by_parts_ || pause_ != Pause::kSweeping) return;
  engine.turns().unswept(left_);
  left_known_ = true;
}

Pause Pauses::advance(TimePoint now) {
  const MutexLock guard(mutex_);
  return next(now);
}

Pause Pauses::next(TimePoint now) {
  if (pause_ == Pause::kGathering && is_over(now)) {
    sweeps_until_ = linger_.boundary(now, lock_.resumed(now), reachable_);
    pause_ = Pause::kSweeping;
    if (by_parts_) linger_.goes_on(now);
  }
  if (pause_ == Pause::kSweeping && is_over(now)) {
    pause_ = Pause::kNone;
    linger_.resumed(now, lock_.behind());
  }
  return pause_;
}

void Pauses::end(TimePoint now) {
  const MutexLock guard(mutex_);
  if (pause_ == Pause::kNone) return;
  pause_ = Pause::kNone;
  linger_.resumed(now, lock_.behind());
}

bool Pauses::has_come(TimePoint now, std::uint32_t from, std::uint32_t to) const {
  const MutexLock guard(mutex_);
  if (pause_ == Pause::kNone || is_over(now)) return true;
  std::uint64_t looked = 0;
  return left_known_ && left_.next(from, looked).value_or(to) >= to;
}

Pause Pauses::present(TimePoint now, Pause told) const {
  const MutexLock guard(mutex_);
  const bool goes_on = by_parts_ && told == Pause::kSweeping && pause_ != Pause::kGathering;
  return goes_on && (pause_ == Pause::kNone || is_over(now)) ? Pause::kNone : told;
}

TimePoint Pauses::changes(TimePoint now) const {
  const MutexLock guard(mutex_);
  const bool goes_on = by_parts_ && pause_ == Pause::kSweeping && sweeps_until_ > now;
  return goes_on ? sweeps_until_ : kNever;
}

bool Pauses::over(TimePoint now) const {
  const MutexLock guard(mutex_);
  return is_over(now);
}

bool Pauses::is_over(TimePoint now) const {
  if (pause_ == Pause::kGathering) return lock_.until() <= now;
  if (pause_ == Pause::kSweeping) return linger_.complete() || sweeps_until_ <= now;
  return false;
}

TimePoint Pauses::until() const {
  const MutexLock guard(mutex_);
  switch (pause_) {
    case Pause::kGathering:
      return lock_.until();
    case Pause::kSweeping:
      return sweeps_until_;
    default:
      return kNever;
  }
}

double Pauses::likeness(TimePoint now) const {
  const MutexLock guard(mutex_);
  return likeness_.at(now);
}

}  // namespace stencil
