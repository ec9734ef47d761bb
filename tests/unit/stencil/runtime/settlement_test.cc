#include "stencil/runtime/settlement.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace stencil {
namespace {

std::vector<Edge> edges_up(int count) {
  std::vector<Edge> edges;
  for (Rank rank = 1; rank <= count; ++rank) {
    Edge edge;
    edge.rank = rank;
    edge.state = LinkState::kUp;
    edge.acknowledged = edge.has_link = true;
    edge.peer_state = WorkerState::kSettling;
    edges.push_back(edge);
  }
  return edges;
}

constexpr std::array<Rank, 2> kBoth = {1, 2};

TEST(Settlement, threshold_follows_lambda2_and_degree) {
  // ring:4: lambda2 = 2, every degree 2.
  EXPECT_NEAR(settle_threshold(Topology::parse("ring:4"), 1e-4), 1e-4 * std::sqrt(2.0), 1e-9);
  EXPECT_EQ(settle_threshold(Topology::parse("ring:1"), 1e-4), 1e-4);
}

TEST(Settlement, is_settled_only_when_every_bucket_of_every_edge_was_measured) {
  Settlement settlement(kBoth, 2, 0.1);
  const auto edges = edges_up(2);
  EXPECT_FALSE(settlement.settled(edges));
  for (const std::uint32_t bucket : {0U, 1U}) settlement.measured(1, bucket, 1e-6, 1, 2);
  settlement.measured(2, 0, 1e-6, 1, 2);
  EXPECT_FALSE(settlement.settled(edges));
  settlement.measured(2, 1, 1e-6, 1, 2);
  EXPECT_TRUE(settlement.settled(edges));
  settlement.restart();
  EXPECT_FALSE(settlement.settled(edges));
}

TEST(Settlement, is_settled_under_the_threshold_and_not_above) {
  Settlement settlement(kBoth, 1, 0.1);
  const auto edges = edges_up(2);
  settlement.measured(2, 0, 0.0001, 1, 2);
  settlement.measured(1, 0, 0.04, 1, 1000);
  EXPECT_FALSE(settlement.settled(edges));
  settlement.measured(1, 0, 0.0001, 1, 1000);
  EXPECT_TRUE(settlement.settled(edges));
}

TEST(Settlement, counts_its_own_moves_against_the_edges_measured_before) {
  Settlement settlement(kBoth, 1, 0.1);
  const auto edges = edges_up(2);
  settlement.measured(1, 0, 0, 1, 2);
  settlement.measured(2, 0, 1, 1, 2);  // moves us by 1/2, away from where neighbour 1 saw us
  settlement.measured(2, 0, 0, 1, 2);  // near neighbour 2 now, but what of neighbour 1?
  EXPECT_FALSE(settlement.settled(edges));
  settlement.measured(1, 0, 0, 1, 2);
  EXPECT_TRUE(settlement.settled(edges));
}

TEST(Settlement, asks_nothing_of_neighbours_that_are_frozen_or_away) {
  Settlement settlement(kBoth, 1, 0.1);
  auto edges = edges_up(2);
  edges[0].peer_state = WorkerState::kFrozen;
  edges[1].state = LinkState::kSuspect;
  EXPECT_TRUE(settlement.settled(edges));
  EXPECT_EQ(settlement.relative_distance(), 0);
}

TEST(Settlement, ignores_ranks_and_buckets_that_are_not_its_own) {
  Settlement settlement(kBoth, 1, 0.1);
  settlement.measured(7, 0, 1, 1, 2);
  settlement.measured(1, 9, 1, 1, 2);
  EXPECT_EQ(settlement.relative_distance(), 0);
}

}  // namespace
}  // namespace stencil
