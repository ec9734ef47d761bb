#include "stencil/runtime/settlement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace stencil {
namespace {

/// A worker with two neighbours that are about to end.
class SettlementTest : public testing::Test {
 protected:
  SettlementTest() {
    for (const Rank rank : {1, 2}) {
      Neighbour& edge = neighbours_.add({.rank = rank});
      edge.state = LinkState::kUp;
      edge.life.acknowledged = edge.has_link = true;
      edge.report.state = WorkerState::kSettling;
    }
  }
  Settlement& of_buckets(std::uint32_t buckets) {
    edges_ = edges_of(neighbours_);
    settlement_.emplace(edges_, buckets, 0.1);
    for (auto& [rank, edge] : edges_) settlement_->add(edge);
    return *settlement_;
  }
  Edge& edge(Rank rank) { return edges_.at(rank); }
  Neighbour& neighbour(Rank rank) { return neighbours_.at(rank); }

 private:
  Neighbours neighbours_;
  Edges edges_;
  std::optional<Settlement> settlement_;
};

TEST_F(SettlementTest, is_settled_only_when_every_bucket_of_every_edge_was_measured) {
  Settlement& settlement = of_buckets(2);
  EXPECT_FALSE(settlement.settled());
  for (const std::uint32_t bucket : {0U, 1U}) settlement.measured(edge(1), bucket, 1e-6, 1, 2);
  settlement.measured(edge(2), 0, 1e-6, 1, 2);
  EXPECT_FALSE(settlement.settled());
  settlement.measured(edge(2), 1, 1e-6, 1, 2);
  EXPECT_TRUE(settlement.settled());
  settlement.restart();
  EXPECT_FALSE(settlement.settled());
}

TEST_F(SettlementTest, is_settled_under_the_threshold_and_not_above) {
  Settlement& settlement = of_buckets(1);
  settlement.measured(edge(2), 0, 0.0001, 1, 2);
  settlement.measured(edge(1), 0, 0.04, 1, 1000);
  EXPECT_FALSE(settlement.settled());
  settlement.measured(edge(1), 0, 0.0001, 1, 1000);
  EXPECT_TRUE(settlement.settled());
}

TEST_F(SettlementTest, counts_its_own_moves_against_the_edges_measured_before) {
  Settlement& settlement = of_buckets(1);
  settlement.measured(edge(1), 0, 0, 1, 2);
  settlement.measured(edge(2), 0, 1, 1, 2);  // moves us by 1/2, away from where neighbour 1 saw us
  settlement.measured(edge(2), 0, 0, 1, 2);  // near 2 now, but 1 is not measured
  EXPECT_FALSE(settlement.settled());
  settlement.measured(edge(1), 0, 0, 1, 2);
  EXPECT_TRUE(settlement.settled());
}

/// Squares of values beyond 2e19 are more than a float holds.
TEST_F(SettlementTest, is_not_settled_by_distances_that_overflow) {
  constexpr double kHuge = std::numeric_limits<float>::infinity();
  Settlement& settlement = of_buckets(1);
  const auto measure_both = [&] {
    for (const Rank rank : {1, 2}) settlement.measured(edge(rank), 0, 0, 1, 2);
  };
  measure_both();
  EXPECT_TRUE(settlement.settled());
  settlement.moved(0, kHuge, 1);
  EXPECT_FALSE(settlement.settled()) << "a neighbour moved us by who knows how much";
  measure_both();
  EXPECT_TRUE(settlement.settled()) << "measured anew";
  settlement.measured(edge(1), 0, 1e39, 1e40, 2);
  EXPECT_FALSE(settlement.settled()) << "nor is such a norm one that all is small beside";
}

TEST_F(SettlementTest, asks_nothing_of_neighbours_that_are_frozen_or_away) {
  Settlement& settlement = of_buckets(1);
  neighbour(1).report.state = WorkerState::kFrozen;
  neighbour(2).state = LinkState::kSuspect;
  EXPECT_TRUE(settlement.settled());
  EXPECT_EQ(settlement.relative_distance(), 0);
}

/// What it has shown by asking would never be measured anew.
TEST_F(SettlementTest, waits_for_nobody_whom_it_does_not_ask) {
  Settlement& settlement = of_buckets(1);
  neighbour(1).life.doubted = true;
  neighbour(2).life.behind = true;
  for (const Rank rank : {1, 2}) settlement.measured(edge(rank), 0, 4, 1, 1000);
  EXPECT_TRUE(settlement.settled());
  EXPECT_FALSE(settlement.compared());
  neighbour(2).life.behind = false;
  EXPECT_FALSE(settlement.settled());
  settlement.measured(edge(2), 0, 0, 1, 1000);
  EXPECT_TRUE(settlement.settled());
  EXPECT_TRUE(settlement.compared());
}

TEST_F(SettlementTest, has_compared_with_one_that_froze_near_it_and_not_with_one_far_away) {
  Settlement& settlement = of_buckets(1);
  for (const Rank rank : {1, 2}) neighbour(rank).report.state = WorkerState::kFrozen;
  EXPECT_FALSE(settlement.compared());
  settlement.measured(edge(1), 0, 4, 1, 1000);
  EXPECT_FALSE(settlement.compared());
  settlement.measured(edge(1), 0, 0, 1, 1000);
  EXPECT_TRUE(settlement.compared());
}

TEST_F(SettlementTest, ignores_buckets_that_are_not_the_models) {
  Settlement& settlement = of_buckets(1);
  settlement.measured(edge(1), 9, 1, 1, 2);
  EXPECT_EQ(settlement.relative_distance(), 0);
}

}  // namespace
}  // namespace stencil
