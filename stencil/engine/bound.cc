#include "stencil/engine/bound.h"

#include <algorithm>

namespace stencil {

Bound::Limit Bound::limit() const {
  Limit limit;
  if (!applies()) return limit;
  for (const Neighbour& neighbour : self_.neighbours) {
    if (!neighbour.in_pace() && !begins_with_us(neighbour)) continue;
    const Pace& pace = neighbour.pace;
    const std::uint64_t step =
        std::min(neighbour.report.steps.count + pace.head_start, pace.swept_step) +
        self_.config.mode.bound;
    if (step < limit.step) limit = {step, neighbour.rank};
  }
  return limit;
}

bool Bound::begins_with_us(const Neighbour& neighbour) const {
  return neighbour.state == LinkState::kUp && neighbour.report.state == WorkerState::kJoining &&
         self_.step() <= self_.config.mode.bound;
}

bool Bound::overdue(const Neighbour& neighbour) const {
  return applies() && neighbour.report.state == WorkerState::kTraining &&
         self_.step() >= neighbour.pace.swept_step + self_.config.mode.bound;
}

}  // namespace stencil
