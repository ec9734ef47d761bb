#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "stencil/core/topologies/kinds.h"
#include "stencil/core/topology.h"

namespace stencil::test {

/// The examples of every kind of topology, in the order of the list. Kinds that need a file have
/// none.
inline std::vector<std::string> topology_examples() {
  std::vector<std::string> specs;
  for (const TopologyKind& kind : topology_kinds()) {
    specs.insert(specs.end(), kind.examples.begin(), kind.examples.end());
  }
  return specs;
}

/// "torus_4x4_moore": names of tests hold letters, digits and underscores alone.
inline std::string test_name(std::string spec) {
  std::ranges::replace_if(
      spec, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return spec;
}

}  // namespace stencil::test
