#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "stencil/core/topology.h"

namespace stencil::contract {

/// One kind of topology under test, with examples.
struct TopologyCase {
  std::string name;  ///< letters, digits and underscores
  std::function<std::vector<Topology>()> make;
};
inline void PrintTo(const TopologyCase& kind, std::ostream* out) {
  *out << kind.name;
}

/// The contract of every topology, and of the weights, turns and sweeps derived from it.
class TopologyContract : public ::testing::TestWithParam<TopologyCase> {
 protected:
  std::vector<Topology> topologies_ = GetParam().make();
};

}  // namespace stencil::contract
