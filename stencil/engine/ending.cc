#include "stencil/engine/ending.h"

#include <algorithm>

namespace stencil {

void Ending::update(TimePoint now, Actions& out) {
  const WorkerState state = self_.state;
  std::uint32_t settled_hops = 0;
  if (state == WorkerState::kSettled || state == WorkerState::kFrozen) settled_hops = most();
  if (state == WorkerState::kSettled) {
    for (const Neighbour& neighbour : self_.neighbours) {
      if (neighbour.up()) settled_hops = std::min(settled_hops, neighbour.report.settled_hops + 1);
    }
  }
  if (settled_hops == self_.settled_hops) return;
  self_.settled_hops = settled_hops;
  self_.heartbeat_all(now, out);
}

}  // namespace stencil
