#include "stencil/engine/puller.h"

namespace stencil {

void Puller::send(TimePoint now, const PullPlan::Pull& pull, Actions& out) {
  Neighbour* neighbour = self_.neighbours.find(pull.rank);
  if (neighbour == nullptr || !neighbour->up()) return;
  self_.send(now, *neighbour, Pull{.bucket = pull.bucket, .round = plan_.round()}, out);
}

void Puller::issue(TimePoint now, Actions& out) {
  while (const std::optional<PullPlan::Pull> pull = plan_.next(now)) send(now, *pull, out);
}

void Puller::tick(TimePoint now, Actions& out) {
  const TimePoint then = now - self_.config.reply_deadline;
  for (const PullPlan::Pull& pull : plan_.overdue(then, now)) {
    const Neighbour* neighbour = self_.neighbours.find(pull.rank);
    if (neighbour != nullptr && neighbour->times.moved <= then) send(now, pull, out);
  }
}

TimePoint Puller::next() const {
  const TimePoint oldest = plan_.oldest();
  return oldest == kNever ? kNever : oldest + self_.config.reply_deadline;
}

}  // namespace stencil
