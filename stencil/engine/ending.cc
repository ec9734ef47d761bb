#include "stencil/engine/ending.h"

#include <algorithm>

namespace stencil {

void Ending::update(TimePoint now, Actions& out) {
  const WorkerState state = self_.state;
  std::uint32_t calm = 0;
  if (state == WorkerState::kSettled || state == WorkerState::kFrozen) calm = most();
  if (state == WorkerState::kSettled) {
    for (const Neighbour& neighbour : self_.neighbours) {
      if (neighbour.up()) calm = std::min(calm, neighbour.report.calm + 1);
    }
  }
  if (calm == self_.calm) return;
  self_.calm = calm;
  self_.heartbeat_all(now, out);
}

}  // namespace stencil
