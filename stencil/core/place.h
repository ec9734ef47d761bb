#pragma once

#include <cstddef>
#include <cstdint>

#include "stencil/core/types.h"

namespace stencil {

/// A neighbour's place: what is known about an edge before any message.
struct Place {
  static constexpr std::size_t kNoTurn = SIZE_MAX;
  Rank rank = kNoRank;
  /// The turn (see Turns) in which both ends of the edge meet; both must have the same.
  std::size_t turn = kNoTurn;
  double weight = 0;  ///< in lock step, see MixingWeights
};

}  // namespace stencil
