#include "stencil/engine/config.h"

namespace stencil {

GridFigures GridFigures::of(const Grid& grid) {
  return {.version = grid.version(),
          .turns = grid.turns(),
          .hash = grid.hash(),
          .reach = static_cast<std::uint32_t>(grid.reach())};
}

void EngineConfig::stand(const Grid& where, Rank at) {
  rank = at;
  topology = where.spec();
  neighbours = where.places(at);
  grid = GridFigures::of(where);
}

double EngineConfig::self_weight() const {
  double rest = 1;
  for (const Place& place : neighbours) rest -= place.weight;
  return rest;
}

}  // namespace stencil
