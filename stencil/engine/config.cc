#include "stencil/engine/config.h"

namespace stencil {

void EngineConfig::stand(const Grid& where, Rank at) {
  rank = at;
  topology = where.spec();
  neighbours = where.places(at);
  grid.version = where.version();
  grid.turns = where.turns();
  grid.reach = static_cast<std::uint32_t>(where.reach());
}

double EngineConfig::self_weight() const {
  double rest = 1;
  for (const Place& place : neighbours) rest -= place.weight;
  return rest;
}

}  // namespace stencil
