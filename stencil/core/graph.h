#pragma once

#include <cstdint>
#include <vector>

#include "stencil/core/types.h"

namespace stencil::internal {

/// Bounds the memory of any topology: complete:N grows with the square of N.
inline constexpr std::int64_t kMaxEdges = std::int64_t{1} << 24;

/// The data of a Topology. Each kind in topologies/ makes one. Private to stencil/core.
struct Graph {
  std::vector<int> shape;
  std::vector<std::vector<Rank>> neighbours;  ///< each list sorted, without doubles or itself
  bool has_directions = false;                ///< `shape` is a box whose edges join adjacent places
  bool wraps = false;                         ///< its borders are joined
  bool irregular = false;  ///< rank 0 is neither a corner nor one like all others
  int reach = 0;           ///< set by Topology; see Topology::reach()
};

}  // namespace stencil::internal
