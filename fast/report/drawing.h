#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fast {

/// A drawing of a topology. The unit of length is the distance between two neighbours.
struct Drawing {
  std::vector<std::pair<double, double>> places;  ///< by rank: x to the right, y downwards
  struct Edge {
    int a = 0, b = 0;
    bool wraps = false;  ///< joins opposite borders; drawn as an arc
  };
  std::vector<Edge> edges;
};

/// Draws grids and tori on their coordinates (for three dimensions, the slices side by side), and
/// other topologies on a circle. Uses `fallback_edges` where the specification cannot be read here,
/// for example because an edges file is on another machine.
[[nodiscard]] Drawing draw_topology(const std::string& spec, int workers,
                                    const std::vector<std::pair<int, int>>& fallback_edges);

}  // namespace fast
