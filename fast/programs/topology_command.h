#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

#include "stencil/core/topology.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast topology.
struct TopologyQuery {
  std::string spec, model, codec = "fp32", data = "synthetic";
  std::size_t parameters = 0;
  int bucket_kib = 0;
  bool json = false;
};

void bind_topology_options(CLI::App& app, TopologyQuery& query);

/// fast topology SPEC: prints neighbours and weights, how well the grid mixes, and the cost of a
/// sweep. Returns an exit code; throws what run_guarded() catches.
int topology_command(const std::vector<std::string>& args, const Models& models);

/// Draws a ring, grid or torus of up to two dimensions in characters: lines are edges, stubs are
/// edges that wrap around; diagonals are left out. Returns "" for other topologies and for those
/// more than 100 columns wide.
[[nodiscard]] std::string draw(const stencil::Topology& topology);

}  // namespace fast
