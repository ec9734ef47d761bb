#pragma once

#include <vector>

#include "stencil/core/states.h"
#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"
#include "stencil/neighbour/steps.h"

namespace stencil {

/// How like the steps of a worker are in length to those of its neighbours that step more quickly:
/// of the one that is least like; see likeness(). Slower neighbours are met by this worker itself,
/// which knows them one by one (Neighbour::unlike); quick ones also reach into its memory.
///
/// Not thread-safe; without a clock.
class Likeness {
 public:
  /// Takes over what is known about this worker's steps and its neighbours'.
  void hear(const Steps& own, const Neighbours& neighbours);
  /// From 0 to 1; 1 before anything is known.
  [[nodiscard]] double at(TimePoint now) const;

 private:
  Steps own_;
  std::vector<Steps> neighbours_;
};

}  // namespace stencil
