#include "stencil/runtime/phase_lock.h"

#include <algorithm>

namespace stencil {
namespace {

/// The patience of how many boundaries can be saved; also how late a neighbour may be, in shares of
/// a step.
constexpr double kPatience = 2;

Duration times(double factor, Duration duration) {
  return std::chrono::duration_cast<Duration>(factor * duration);
}

}  // namespace

void PhaseLock::hear(const Neighbours& neighbours) {
  neighbours_.clear();
  for (const Neighbour& one : neighbours) {
    neighbours_.push_back({one.in_pace(), one.report.steps.last, one.report.steps.every});
  }
}

void PhaseLock::boundary(TimePoint now, bool worthwhile) {
  boundary_ = latest_ = now;
  if (share_ <= 0 || !resumed_) return;
  const Duration step = now - *resumed_;
  step_ = step_.count() == 0 ? step : step_ + (step - step_) / 16;
  saved_ = std::min(saved_ + times(share_, step_), times(kPatience * share_, step_));
  if (worthwhile && step_ >= kShortestStep) latest_ = now + std::max(saved_, Duration(0));
}

bool PhaseLock::in_step(const Phase& theirs) const {
  return theirs.training && alike(theirs.every, step_, share_);
}

bool PhaseLock::just_passed(const Phase& theirs) const {
  return theirs.stepped + step_ / 2 >= boundary_;
}

bool PhaseLock::behind() const {
  return std::ranges::any_of(
      neighbours_, [this](const Phase& theirs) { return in_step(theirs) && !just_passed(theirs); });
}

bool PhaseLock::awaited(const Phase& theirs) const {
  if (!in_step(theirs)) return false;
  const TimePoint expected = theirs.stepped + theirs.every;
  return !just_passed(theirs) && expected <= latest_ &&
         expected + times(kPatience * share_, step_) >= boundary_;
}

TimePoint PhaseLock::until() const {
  const bool any =
      std::ranges::any_of(neighbours_, [this](const Phase& one) { return awaited(one); });
  return any ? latest_ : boundary_;
}

Duration PhaseLock::resumed(TimePoint now) {
  const Duration waited = now - boundary_;
  saved_ -= waited;
  resumed_ = now;
  return waited;
}

}  // namespace stencil
