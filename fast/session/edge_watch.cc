#include "fast/session/edge_watch.h"

#include <utility>

namespace fast {

std::optional<stencil::Rank> EdgeWatch::look(
    stencil::TimePoint now, std::uint64_t sweeps,
    const std::vector<stencil::NeighbourStatus>& neighbours) {
  std::optional<stencil::Rank> found;
  for (const stencil::NeighbourStatus& neighbour : neighbours) {
    const auto [known, is_new] = edges_.try_emplace(neighbour.rank);
    Edge& edge = known->second;
    const std::uint64_t bytes = neighbour.bytes_sent + neighbour.bytes_shared;
    const auto longs = static_cast<std::uint64_t>((now - edge.since) / kLong);
    const bool trains = neighbour.link == stencil::LinkState::kUp &&
                        neighbour.state == stencil::WorkerState::kTraining;
    if (is_new || !trains || neighbour.sweeps != edge.sweeps ||
        bytes >= edge.bytes + kBytes * (1 + longs) || neighbour.step < edge.step) {
      edge = {.since = now,
              .of_all = sweeps,
              .sweeps = neighbour.sweeps,
              .step = neighbour.step,
              .bytes = bytes,
              .told = edge.told};
      continue;
    }
    const bool lasts = now - edge.since >= kLong && neighbour.step - edge.step >= kSteps &&
                       sweeps - edge.of_all >= kSweeps * neighbours.size();
    if (found || !lasts || std::exchange(edge.told, true)) continue;
    found = neighbour.rank;
  }
  return found;
}

std::string EdgeWatch::advice(stencil::Rank rank) {
  return "neighbour " + std::to_string(rank) +
         " is up and trains, and nothing has been averaged with it for a minute, as it was with "
         "others: the two models meet by way of these alone. That is a fault of this software; "
         "begin one of the two workers anew from its checkpoint, and keep what both have recorded "
         "(option record)";
}

}  // namespace fast
