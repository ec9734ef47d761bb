#include "stencil/core/topologies/kinds.h"

#include <vector>

#include "stencil/core/text.h"
#include "stencil/core/topologies/box.h"
#include "stencil/core/topologies/complete.h"
#include "stencil/core/topologies/edges.h"

namespace stencil {
namespace {

constexpr std::string_view kRings[] = {"ring:1", "ring:2", "ring:3", "ring:8"};
constexpr std::string_view kTori[] = {"torus:2x2", "torus:1x4",   "torus:3x5",
                                      "torus:4x4", "torus:2x2x3", "torus:4x4:moore"};
constexpr std::string_view kGrids[] = {"grid:3x5", "grid:1x4", "grid:2x3x2", "grid:3x3:moore"};
constexpr std::string_view kCompletes[] = {"complete:1", "complete:2", "complete:5"};

constexpr TopologyKind kKinds[] = {
    {"ring", "ring:N", "a closed line", kRings, internal::make_ring},
    {"torus", "torus:AxB[xC][:moore]", "a closed grid; :moore adds diagonal neighbours", kTori,
     internal::make_torus},
    {"grid", "grid:AxB[xC][:moore]", "the same with open borders", kGrids, internal::make_grid},
    {"complete", "complete:N", "everybody with everybody", kCompletes, internal::make_complete},
    {"edges", "edges:FILE", "two ranks a line", {}, internal::make_edges},
};

}  // namespace

std::span<const TopologyKind> topology_kinds() {
  return kKinds;
}

std::vector<std::string> topology_choices() {
  std::vector<std::string> choices;
  for (const TopologyKind& kind : kKinds) choices.push_back(std::string(kind.name) + ":");
  return choices;
}

std::string topology_forms() {
  std::vector<std::string_view> forms;
  for (const TopologyKind& kind : kKinds) forms.push_back(kind.form);
  return listed(forms);
}

}  // namespace stencil
