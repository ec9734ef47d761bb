#include "stencil/core/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/core/turns.h"
#include "stencil/core/usual_sweeps.h"

namespace stencil {
namespace {

Grid grid_of(const char* spec) {
  return Topology::parse(spec);
}

std::vector<Rank> neighbours_of(const Grid& grid, Rank rank) {
  std::vector<Rank> ranks;
  for (const Place& place : grid.places(rank)) ranks.push_back(place.rank);
  return ranks;
}

/// Both ends of an edge have the same turn and weight, and no worker meets two in one turn.
void expect_sound(const Grid& grid) {
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    std::set<std::size_t> turns;
    for (const Place& place : grid.places(rank)) {
      EXPECT_LT(place.turn, grid.turns());
      EXPECT_TRUE(turns.insert(place.turn).second) << rank << " meets two in " << place.turn;
      const std::vector<Place> theirs = grid.places(place.rank);
      const auto back = std::ranges::find(theirs, rank, &Place::rank);
      ASSERT_NE(back, theirs.end());
      EXPECT_EQ(back->turn, place.turn);
      EXPECT_EQ(back->weight, place.weight);
    }
  }
}

TEST(Grid, has_the_places_and_numbers_of_its_topology) {
  for (const char* spec : {"ring:1", "ring:2", "ring:5", "torus:4x4", "grid:3x5", "complete:6"}) {
    const Topology topology = Topology::parse(spec);
    const Grid grid(topology);
    const Turns turns(topology);
    const MixingWeights weights(topology);
    EXPECT_EQ(grid.version(), 0U);
    EXPECT_EQ(grid.size(), topology.size());
    EXPECT_EQ(grid.turns(), turns.count());
    EXPECT_EQ(grid.reach(), topology.reach());
    EXPECT_EQ(grid.lambda2(), lambda2(topology));
    EXPECT_EQ(grid.sweeps(), usual_sweeps(topology));
    expect_sound(grid);
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      EXPECT_TRUE(std::ranges::equal(neighbours_of(grid, rank), topology.neighbours(rank)));
      for (const Place& place : grid.places(rank)) {
        EXPECT_EQ(turns.of(rank)[place.turn], place.rank);
        EXPECT_EQ(place.weight, weights.weight(rank, place.rank));
      }
    }
  }
}

TEST(Grid, the_settle_threshold_follows_lambda2_and_degree) {
  // ring:4: lambda2 = 2, every degree 2.
  EXPECT_NEAR(grid_of("ring:4").settle_threshold(1e-4), 1e-4 * std::sqrt(2.0), 1e-9);
  EXPECT_EQ(grid_of("ring:1").settle_threshold(1e-4), 1e-4);
}

TEST(Grid, its_numbers_follow_who_comes_and_goes) {
  Grid grid = grid_of("grid:1x8");
  const double narrow = grid.settle_threshold(1e-3);
  const int far = grid.reach();
  grid.add(8, std::vector<Rank>{0, 2, 4, 7});
  EXPECT_EQ(grid.version(), 1U);
  EXPECT_EQ(grid.size(), 9);
  EXPECT_EQ(grid.ranks(), 9);
  EXPECT_EQ(neighbours_of(grid, 8), (std::vector<Rank>{0, 2, 4, 7}));
  EXPECT_EQ(neighbours_of(grid, 2), (std::vector<Rank>{1, 3, 8}));
  EXPECT_GE(grid.turns(), 4U);
  EXPECT_GT(grid.settle_threshold(1e-3), narrow);
  expect_sound(grid);
  grid.remove(8);
  EXPECT_EQ(grid.version(), 2U);
  EXPECT_FALSE(grid.contains(8));
  EXPECT_TRUE(grid.places(8).empty());
  EXPECT_EQ(grid.ranks(), 9);
  EXPECT_EQ(grid.size(), 8);
  EXPECT_EQ(grid.turns(), 2U);
  EXPECT_NEAR(grid.settle_threshold(1e-3), narrow, 1e-9);
  EXPECT_GE(grid.reach(), far);
  expect_sound(grid);
}

TEST(Grid, sweeps_follow_it) {
  Grid grid = grid_of("torus:4x4");
  const int sweeps = grid.sweeps();
  for (Rank rank = 8; rank < 16; ++rank) grid.remove(rank);
  for (Rank rank = 4; rank < 8; ++rank) grid.remove(rank);
  EXPECT_EQ(grid.sweeps(), usual_sweeps(Topology::parse("ring:4")));
  EXPECT_LT(grid.sweeps(), sweeps);
}

TEST(Grid, weights_follow_the_degrees_of_now) {
  Grid grid = grid_of("ring:3");
  EXPECT_EQ(grid.places(0).front().weight, 1.0 / 3);
  grid.add(3, std::vector<Rank>{0});
  EXPECT_EQ(grid.places(0).front().weight, 1.0 / 4);
  expect_sound(grid);
}

/// A part that is cut off settles by itself: nothing that others do can bring it nearer to them.
TEST(Grid, of_a_grid_in_parts_the_numbers_serve_each) {
  Grid grid = grid_of("grid:1x9");
  grid.remove(3);
  const Grid five = grid_of("grid:1x5");
  EXPECT_NEAR(grid.lambda2(), five.lambda2(), 1e-6);
  EXPECT_NEAR(grid.settle_threshold(1), five.settle_threshold(1), 1e-6);
  EXPECT_GE(grid.reach(), five.reach());
  EXPECT_GE(grid.sweeps(), 1);
  Grid pair = grid_of("ring:2");
  pair.remove(0);
  EXPECT_EQ(pair.reach(), 0);
  EXPECT_EQ(pair.lambda2(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(pair.settle_threshold(1e-3), 1e-3);
}

TEST(Grid, equal_changes_make_equal_grids) {
  Grid one = grid_of("ring:6"), other = grid_of("ring:6");
  for (Grid* const grid : {&one, &other}) {
    grid->remove(2);
    grid->add(2, std::vector<Rank>{3, 1, 5});
    grid->add(6, std::vector<Rank>{2, 0});
  }
  EXPECT_EQ(one.version(), other.version());
  for (Rank rank = 0; rank < one.ranks(); ++rank) {
    const std::vector<Place> a = one.places(rank), b = other.places(rank);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].turn, b[i].turn);
  }
}

TEST(Grid, changes_that_cannot_be_are_refused_and_change_nothing) {
  Grid grid = grid_of("ring:3");
  const auto add = [&](Rank rank, std::vector<Rank> neighbours) { grid.add(rank, neighbours); };
  EXPECT_THROW(add(2, {0}), ConfigError) << "it is there";
  EXPECT_THROW(add(-1, {0}), ConfigError);
  EXPECT_THROW(add(Topology::kMaxSize, {0}), ConfigError);
  EXPECT_THROW(add(3, {}), ConfigError);
  EXPECT_THROW(add(3, {0, 0}), ConfigError);
  EXPECT_THROW(add(3, {0, 3}), ConfigError);
  EXPECT_THROW(grid.remove(3), ConfigError);
  EXPECT_EQ(grid.version(), 0U);
  grid.remove(0);
  grid.remove(1);
  EXPECT_THROW(grid.remove(2), ConfigError) << "nobody would be left";
}

TEST(Grid, the_same_changes_in_the_same_order_give_the_same_hash_and_no_others_do) {
  const auto ring = [] { return Grid(Topology::parse("ring:6")); };
  Grid a = ring(), b = ring(), c = ring(), d = ring();
  EXPECT_NE(a.hash(), 0U);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a.hash(), Grid(Topology::parse("ring:7")).hash());
  for (Grid* const grid : {&a, &b}) {
    grid->add(6, std::vector<Rank>{0, 2});
    grid->add(7, std::vector<Rank>{0, 4});
  }
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a.hash(), ring().hash());
  c.add(7, std::vector<Rank>{0, 4});
  c.add(6, std::vector<Rank>{0, 2});
  EXPECT_NE(a.hash(), c.hash()) << "the same edges, in other turns";
  d.remove(3);
  EXPECT_NE(d.hash(), ring().hash());
}

TEST(Grid, changes_can_be_repeated) {
  Grid grid(Topology::parse("ring:6")), again(Topology::parse("ring:6"));
  grid.remove(3);
  grid.add(6, std::vector<Rank>{2, 4});
  grid.add(3, std::vector<Rank>{6});
  ASSERT_EQ(grid.changes().size(), 3U);
  for (const Grid::Change& change : grid.changes()) again.repeat(change);
  EXPECT_EQ(again.changes(), grid.changes());
  EXPECT_EQ(again.hash(), grid.hash());
  EXPECT_EQ(again.version(), 3U);
  EXPECT_THROW(again.repeat({.rank = 9, .neighbours = {}}), ConfigError);
  EXPECT_EQ(again.version(), 3U);
}

}  // namespace
}  // namespace stencil
