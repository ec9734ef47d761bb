#include "fast/session/batch_watch.h"

namespace fast {

std::optional<stencil::Rank> BatchWatch::look(
    std::uint64_t hash, stencil::Rank rank,
    const std::vector<stencil::NeighbourStatus>& neighbours) {
  if (told_ || hash == 0) return std::nullopt;
  for (const stencil::NeighbourStatus& neighbour : neighbours) {
    if (neighbour.rank >= rank || neighbour.first_batch != hash) continue;
    told_ = true;
    return neighbour.rank;
  }
  return std::nullopt;
}

std::string BatchWatch::advice(stencil::Rank rank, stencil::Rank other) {
  return "workers " + std::to_string(other) + " and " + std::to_string(rank) +
         " have begun with the same batch, number for number: they train on the same examples, and "
         "learn nothing from each other; share the data out by rank (in Python "
         "fast_training.data.ShardedSampler does), or give each rank another order. Said once; "
         "where all are meant to see the same data, all is well";
}

}  // namespace fast
