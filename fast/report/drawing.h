#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fast {

/// Where to draw the workers of a topology. Units: the distance between two neighbours.
struct Drawing {
  std::vector<std::pair<double, double>> places;  ///< by rank: x to the right, y downwards
  struct Edge {
    int a = 0, b = 0;
    bool wraps = false;  ///< joins opposite borders: to be drawn as an arc
  };
  std::vector<Edge> edges;
};

/// Grids and tori on their coordinates (of three dimensions the slices side by side), everything
/// else on a circle. `fallback_edges` stand in where the specification cannot be read here, e.g.
/// because an edges file lies on another machine.
[[nodiscard]] Drawing draw_topology(const std::string& spec, int workers,
                                    const std::vector<std::pair<int, int>>& fallback_edges);

}  // namespace fast
