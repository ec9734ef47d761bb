#include "stencil/runtime/phase_lock.h"

#include <algorithm>

namespace stencil {
namespace {

Duration times(double factor, Duration duration) {
  return std::chrono::duration_cast<Duration>(factor * duration);
}

}  // namespace

void PhaseLock::hear(std::span<const Edge> edges) {
  neighbours_.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    neighbours_[i] = {edges[i].in_pace(), edges[i].stepped, edges[i].step_every};
  }
}

void PhaseLock::boundary(TimePoint now, bool worthwhile) {
  boundary_ = latest_ = now;
  if (share_ <= 0 || !resumed_) return;
  const Duration step = now - *resumed_;
  step_ = step_.count() == 0 ? step : step_ + (step - step_) / 16;
  saved_ = std::min(saved_ + times(share_, step_), times(2 * share_, step_));
  if (worthwhile && step_ >= kShortestStep) latest_ = now + std::max(saved_, Duration(0));
}

bool PhaseLock::awaited(const Neighbour& neighbour) const {
  return neighbour.training && neighbour.every.count() > 0 &&
         neighbour.every <= times(1 + share_, step_) &&
         step_ <= times(1 + share_, neighbour.every) && neighbour.stepped + step_ / 2 < boundary_ &&
         neighbour.stepped + neighbour.every <= latest_;
}

TimePoint PhaseLock::until() const {
  const bool any =
      std::ranges::any_of(neighbours_, [this](const Neighbour& n) { return awaited(n); });
  return any ? latest_ : boundary_;
}

void PhaseLock::resumed(TimePoint now) {
  if (resumed_) saved_ -= now - boundary_;
  resumed_ = now;
}

}  // namespace stencil
