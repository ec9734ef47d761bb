// What is derived from a graph: weights, their eigenvalues, turns and the number of sweeps.
#include <algorithm>
#include <limits>
#include <vector>

#include "stencil/core/mixing_weights.h"
#include "stencil/core/turns.h"
#include "stencil/core/usual_sweeps.h"
#include "tests/contract/topology/dense_spectrum.h"
#include "tests/contract/topology/topology_contract.h"

namespace stencil::contract {

TEST_P(TopologyContract, WeightsAreSymmetricPositiveAndDoublyStochastic) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    const MixingWeights weights(topology);
    std::vector<double> columns(static_cast<std::size_t>(topology.size()), 0.0);
    for (Rank i = 0; i < topology.size(); ++i) {
      const auto row = weights.row(i);
      EXPECT_EQ(row.size(), topology.neighbours(i).size() + 1);
      EXPECT_TRUE(std::ranges::is_sorted(row));
      double sum = 0.0;
      for (const auto& [j, weight] : row) {
        EXPECT_GT(weight, 0.0);
        EXPECT_EQ(weight, weights.weight(i, j));
        EXPECT_EQ(weights.weight(i, j), weights.weight(j, i));
        sum += weight;
        columns[static_cast<std::size_t>(j)] += weight;
      }
      EXPECT_NEAR(sum, 1.0, 1e-14);
    }
    for (const double column : columns) EXPECT_NEAR(column, 1.0, 1e-14);
  }
}

TEST_P(TopologyContract, EigenvaluesAgreeWithADenseSolver) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    if (topology.size() == 1) {
      EXPECT_EQ(lambda2(topology), std::numeric_limits<double>::infinity());
      EXPECT_EQ(spectral_gap(topology), 1.0);
      continue;
    }
    const double expected = dense_lambda2(topology);
    EXPECT_NEAR(lambda2(topology), expected, 1e-7 * expected);
    const double gap = dense_gap(topology);
    EXPECT_NEAR(spectral_gap(topology), gap, 1e-7 * gap);
  }
}

TEST_P(TopologyContract, TurnsAreMatchingsInWhichEachNeighbourIsMetOnce) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    const Turns turns(topology);
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      const auto partners = turns.of(rank);
      std::vector<Rank> met;
      for (std::size_t turn = 0; turn < turns.count(); ++turn) {
        if (partners[turn] == kNoRank) continue;
        met.push_back(partners[turn]);
        EXPECT_EQ(turns.of(partners[turn])[turn], rank);
      }
      std::ranges::sort(met);
      EXPECT_TRUE(std::ranges::equal(met, topology.neighbours(rank))) << rank;
    }
  }
}

TEST_P(TopologyContract, IsTheSameEachTimeItIsMade) {
  const std::vector<Topology> again = GetParam().make();
  ASSERT_EQ(again.size(), topologies_.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    SCOPED_TRACE(again[i].spec());
    EXPECT_EQ(again[i].spec(), topologies_[i].spec());
    EXPECT_EQ(again[i].edges(), topologies_[i].edges());
    const Turns one(topologies_[i]), other(again[i]);
    ASSERT_EQ(one.count(), other.count());
    for (Rank rank = 0; rank < again[i].size(); ++rank) {
      EXPECT_TRUE(std::ranges::equal(one.of(rank), other.of(rank))) << rank;
    }
  }
}

TEST_P(TopologyContract, UsualSweepsAreTheFewestThatKeepWorkersTogether) {
  for (const Topology& topology : topologies_) {
    SCOPED_TRACE(topology.spec());
    const int sweeps = usual_sweeps(topology);
    EXPECT_GE(sweeps, 1);
    EXPECT_LE(sweeps, 8);
    if (sweeps < 8) {
      EXPECT_LE(straying(topology, sweeps), kUsualStraying);
    }
    if (sweeps > 1) {
      EXPECT_GT(straying(topology, sweeps - 1), kUsualStraying) << "fewer would do";
    }
  }
}

}  // namespace stencil::contract
