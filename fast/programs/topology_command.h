#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

#include "stencil/core/topology.h"

namespace CLI {
class App;
}

namespace fast {

/// What fast topology was asked for.
struct TopologyQuery {
  std::string spec, model, codec = "fp32", data = "synthetic";
  std::size_t parameters = 0;
  int bucket_kib = 0;
  bool json = false;
};

void bind_topology_options(CLI::App& app, TopologyQuery& query);

/// fast topology SPEC: who neighbours whom, with what weights, how well it mixes, and what a sweep
/// costs. Returns an exit code; throws what run_guarded() understands.
int topology_command(const std::vector<std::string>& args, const Models& models);

/// A ring, grid or torus of up to two dimensions in characters, with lines where the edges are and
/// stubs where they wrap around (diagonals are left out); "" for what cannot be drawn so or is more
/// than 100 columns wide.
[[nodiscard]] std::string draw(const stencil::Topology& topology);

}  // namespace fast
