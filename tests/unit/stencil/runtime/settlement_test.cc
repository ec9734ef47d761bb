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
    settlement_.emplace(neighbours_, buckets, 0.1);
    for (Neighbour& edge : neighbours_) settlement_->add(edge);
    return *settlement_;
  }
  Neighbour& edge(Rank rank) { return neighbours_.at(rank); }

 private:
  Neighbours neighbours_;
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
  edge(1).report.state = WorkerState::kFrozen;
  edge(2).state = LinkState::kSuspect;
  EXPECT_TRUE(settlement.settled());
  EXPECT_EQ(settlement.relative_distance(), 0);
}

/// One that was far behind when it greeted asks us, and is not asked.
TEST_F(SettlementTest, counts_a_neighbour_that_was_behind_once_it_has_asked_for_every_bucket) {
  Settlement& settlement = of_buckets(2);
  for (const Rank rank : {1, 2}) edge(rank).life.behind = true;
  settlement.measured(edge(1), 0, 0, 1, 2);
  EXPECT_TRUE(settlement.settled()) << "nobody is asked";
  EXPECT_FALSE(settlement.compared());
  settlement.measured(edge(1), 1, 4, 1, 1000);
  EXPECT_TRUE(settlement.compared());
  EXPECT_FALSE(settlement.settled()) << "what it has shown is far away";
  settlement.measured(edge(1), 1, 0, 1, 1000);
  EXPECT_TRUE(settlement.settled());
}

TEST_F(SettlementTest, has_compared_with_one_that_froze_near_it_and_not_with_one_far_away) {
  Settlement& settlement = of_buckets(1);
  for (const Rank rank : {1, 2}) edge(rank).report.state = WorkerState::kFrozen;
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
