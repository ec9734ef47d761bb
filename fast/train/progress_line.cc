#include "fast/train/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fast {

std::string progress_line(const Exchange& exchange, std::uint64_t steps) {
  const SessionStatus status = exchange.status();
  const auto up = std::ranges::count_if(status.neighbours, [](const NeighbourStatus& neighbour) {
    return neighbour.link == LinkState::kUp;
  });
  const double loss = exchange.network_loss();
  return fmt::format("step {}, {:.0f} % of the run, {}{} of {} neighbours up", steps,
                     100 * std::min(1.0, exchange.progress()),
                     std::isfinite(loss) ? fmt::format("loss {:.3f}, ", loss) : "", up,
                     status.neighbours.size());
}

}  // namespace fast
