#include "stencil/engine/config.h"

#include <algorithm>

#include "stencil/core/mixing_weights.h"

namespace stencil {

void EngineConfig::stand(const Topology& where, const Turns& meetings, Rank at) {
  rank = at;
  topology = where.spec();
  turns = meetings.count();
  reach = static_cast<std::uint32_t>(where.reach());
  neighbours.clear();
  const MixingWeights weights(where);
  const auto partners = meetings.of(at);
  for (const Rank other : where.neighbours(at)) {
    neighbours.push_back(
        {.rank = other,
         .turn = static_cast<std::size_t>(std::ranges::find(partners, other) - partners.begin()),
         .weight = weights.weight(at, other)});
  }
}

double EngineConfig::self_weight() const {
  double rest = 1;
  for (const Place& place : neighbours) rest -= place.weight;
  return rest;
}

}  // namespace stencil
