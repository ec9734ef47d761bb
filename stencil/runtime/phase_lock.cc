#include "stencil/runtime/phase_lock.h"

#include <algorithm>

namespace stencil {
namespace {

/// Boundaries whose patience is saved; and how late one may be, in as many shares of a step.
constexpr double kPatience = 2;

Duration times(double factor, Duration duration) {
  return std::chrono::duration_cast<Duration>(factor * duration);
}

}  // namespace

void PhaseLock::hear(std::span<const Edge> edges) {
  neighbours_.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    neighbours_[i] = {edges[i].in_pace(), edges[i].steps.last, edges[i].steps.every};
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

bool PhaseLock::awaited(const Neighbour& neighbour) const {
  if (!neighbour.training || !alike(neighbour.every, step_, share_)) return false;
  const TimePoint expected = neighbour.stepped + neighbour.every;
  const bool just_passed = neighbour.stepped + step_ / 2 >= boundary_;
  return !just_passed && expected <= latest_ &&
         expected + times(kPatience * share_, step_) >= boundary_;
}

TimePoint PhaseLock::until() const {
  const bool any =
      std::ranges::any_of(neighbours_, [this](const Neighbour& n) { return awaited(n); });
  return any ? latest_ : boundary_;
}

Duration PhaseLock::resumed(TimePoint now) {
  const Duration waited = now - boundary_;
  saved_ -= waited;
  resumed_ = now;
  return waited;
}

}  // namespace stencil
