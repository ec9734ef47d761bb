#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stencil/core/error.h"
#include "stencil/core/topology.h"

/// An edges file is either refused by a ConfigError or gives a simple, symmetric graph.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto topology = stencil::Topology::from_edges(text, "edges:fuzz");
    if (topology.size() < 2) std::abort();
    // Each worker needs an edge, each edge at least three bytes of text.
    if (topology.edges().size() * 3 > size) std::abort();
    for (const auto& [a, b] : topology.edges()) {
      if (a == b || !topology.are_neighbours(a, b) || !topology.are_neighbours(b, a)) std::abort();
    }
    for (stencil::Rank rank = 0; rank < topology.size(); ++rank) {
      if (topology.neighbours(rank).empty()) std::abort();
    }
  } catch (const stencil::ConfigError&) {
  }
  return 0;
}
