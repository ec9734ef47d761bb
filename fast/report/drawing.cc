#include "fast/report/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>

#include "stencil/core/error.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

std::optional<stencil::Topology> parse(const std::string& spec, int workers) {
  try {
    stencil::Topology topology = stencil::Topology::parse(spec);
    if (topology.size() == workers) return topology;
  } catch (const stencil::ConfigError&) {
  }
  return std::nullopt;
}

void place_on_circle(Drawing& drawing, int workers) {
  const double radius = std::max(1.0, workers / (2 * std::numbers::pi));
  for (int rank = 0; rank < workers; ++rank) {
    const double angle = 2 * std::numbers::pi * rank / workers - std::numbers::pi / 2;
    drawing.places.emplace_back(radius * (1 + std::cos(angle)), radius * (1 + std::sin(angle)));
  }
}

}  // namespace

Drawing draw_topology(const std::string& spec, int workers,
                      const std::vector<std::pair<int, int>>& fallback_edges) {
  Drawing drawing;
  const auto topology = parse(spec, workers);
  const std::size_t dimensions = topology ? topology->shape().size() : 1;
  if (!topology || dimensions < 2) {
    if (workers == 1) {
      drawing.places.emplace_back(0, 0);
    } else {
      place_on_circle(drawing, workers);
    }
    for (const auto& [a, b] : topology ? topology->edges() : fallback_edges) {
      if (a >= 0 && b >= 0 && a < workers && b < workers) drawing.edges.push_back({a, b, false});
    }
    return drawing;
  }

  const std::vector<int>& shape = topology->shape();
  for (int rank = 0; rank < workers; ++rank) {
    const std::vector<int> at = topology->coordinates(rank);
    double x = at[dimensions - 1];
    // Further dimensions: slices side by side, with a gap.
    double stride = shape[dimensions - 1] + 1;
    for (std::size_t d = dimensions - 2; d-- > 0;) {
      x += at[d] * stride;
      stride *= shape[d];
    }
    drawing.places.emplace_back(x, at[dimensions - 2]);
  }
  for (const auto& [a, b] : topology->edges()) {
    const std::vector<int> from = topology->coordinates(a), to = topology->coordinates(b);
    bool wraps = false;
    for (std::size_t d = 0; d < dimensions; ++d) wraps = wraps || std::abs(from[d] - to[d]) > 1;
    for (std::size_t d = 0; d + 2 < dimensions; ++d) wraps = wraps || from[d] != to[d];
    drawing.edges.push_back({a, b, wraps});
  }
  return drawing;
}

}  // namespace fast
