// The graph itself.
#include "tests/contract/topology/topology_contract.h"

#include <algorithm>
#include <string>
#include <vector>

namespace stencil::contract {
namespace {

/// Hops from `from` to the rank that is furthest from it; -1 where one cannot be reached.
int furthest(const Topology& topology, Rank from) {
  std::vector<int> hops(static_cast<std::size_t>(topology.size()), -1);
  std::vector<Rank> reached = {from};
  hops[static_cast<std::size_t>(from)] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const int here = hops[static_cast<std::size_t>(reached[next])];
    for (const Rank neighbour : topology.neighbours(reached[next])) {
      int& there = hops[static_cast<std::size_t>(neighbour)];
      if (there >= 0) continue;
      there = here + 1;
      reached.push_back(neighbour);
    }
  }
  return reached.size() == hops.size() ? hops[static_cast<std::size_t>(reached.back())] : -1;
}

}  // namespace

TEST_P(TopologyContract, IsASimpleSymmetricGraph) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    ASSERT_GE(topology.size(), 1);
    std::size_t ends = 0;
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      const auto neighbours = topology.neighbours(rank);
      ends += neighbours.size();
      for (std::size_t i = 0; i < neighbours.size(); ++i) {
        ASSERT_GE(neighbours[i], 0);
        ASSERT_LT(neighbours[i], topology.size());
        EXPECT_NE(neighbours[i], rank) << "self-edge";
        if (i > 0) {
          EXPECT_LT(neighbours[i - 1], neighbours[i]) << "doubled or unsorted";
        }
        EXPECT_TRUE(topology.are_neighbours(neighbours[i], rank)) << "one-sided edge";
      }
    }
    EXPECT_EQ(topology.edges().size() * 2, ends);
    EXPECT_DOUBLE_EQ(topology.mean_degree(), static_cast<double>(ends) / topology.size());
  }
}

TEST_P(TopologyContract, IsConnectedWithinItsReach) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    int diameter = 0;
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      const int hops = furthest(topology, rank);
      ASSERT_GE(hops, 0) << "no path from " << rank;
      diameter = std::max(diameter, hops);
    }
    EXPECT_GE(topology.reach(), diameter);
    EXPECT_LE(topology.reach(), 2 * diameter);
  }
}

TEST_P(TopologyContract, EdgesAreSortedWithTheSmallerRankFirst) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    const auto edges = topology.edges();
    EXPECT_TRUE(std::ranges::is_sorted(edges));
    for (const auto& [a, b] : edges) {
      EXPECT_LT(a, b);
      EXPECT_TRUE(topology.are_neighbours(a, b));
    }
  }
}

TEST_P(TopologyContract, DirectionsOfAWorkerDifferAndAreOppositeAtTheOtherEnd) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      std::vector<std::string> seen;
      for (const Rank other : topology.neighbours(rank)) {
        const auto there = topology.direction(rank, other);
        auto back = topology.direction(other, rank);
        for (char& c : back) c = c == '+' ? '-' : c == '-' ? '+' : c;
        EXPECT_EQ(there, back);
        EXPECT_EQ(there.empty(), !topology.has_directions());
        if (!there.empty()) seen.push_back(there);
      }
      std::ranges::sort(seen);
      EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
    }
  }
}

TEST_P(TopologyContract, CoordinatesCountThroughTheShape) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      const auto coordinates = topology.coordinates(rank);
      ASSERT_EQ(coordinates.size(), topology.shape().size());
      Rank again = 0;
      for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
        EXPECT_LT(coordinates[axis], topology.shape()[axis]);
        again = again * topology.shape()[axis] + coordinates[axis];
      }
      EXPECT_EQ(again, rank);
    }
  }
}

}  // namespace stencil::contract
