#include "stencil/core/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/random.h"

namespace stencil {
namespace {

/// Partners of each other in each turn, and each neighbour once. How many turns it takes.
std::size_t checked_turns(const Topology& topology) {
  const Turns turns(topology);
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    const auto partners = turns.of(rank);
    std::vector<Rank> met;
    for (std::size_t turn = 0; turn < turns.count(); ++turn) {
      if (partners[turn] == kNoRank) continue;
      met.push_back(partners[turn]);
      EXPECT_EQ(turns.of(partners[turn])[turn], rank) << topology.spec();
    }
    std::ranges::sort(met);
    EXPECT_TRUE(std::ranges::equal(met, topology.neighbours(rank))) << topology.spec() << rank;
  }
  return turns.count();
}

TEST(Turns, take_as_many_as_a_worker_has_neighbours_where_the_grid_is_bipartite) {
  for (const auto& [spec, degree] : {std::pair{"ring:1", 0U},
                                     {"ring:2", 1U},
                                     {"ring:8", 2U},
                                     {"torus:2x4", 3U},
                                     {"torus:4x4", 4U},
                                     {"torus:6x10", 4U},
                                     {"torus:2x2x2", 3U},
                                     {"torus:4x4x4", 6U},
                                     {"grid:3x3", 4U},
                                     {"grid:5x7", 4U},
                                     {"grid:3x4x5", 6U}}) {
    EXPECT_EQ(checked_turns(Topology::parse(spec)), degree) << spec;
  }
}

TEST(Turns, take_few_more_elsewhere) {
  for (const auto& [spec, degree] : {std::pair{"ring:3", 2U},
                                     {"ring:9", 2U},
                                     {"torus:3x3", 4U},
                                     {"torus:5x7", 4U},
                                     {"torus:3x3x3", 6U},
                                     {"complete:4", 3U},
                                     {"complete:9", 8U},
                                     {"complete:32", 31U},
                                     {"torus:5x5:moore", 8U},
                                     {"grid:4x4:moore", 8U}}) {
    EXPECT_LE(checked_turns(Topology::parse(spec)), degree + 4) << spec;
  }
}

TEST(Turns, of_any_graph_are_matchings_and_the_same_each_time) {
  Random random(5);
  for (int graph = 0; graph < 30; ++graph) {
    const auto size = 2 + static_cast<Rank>(random.below(30));
    std::string text;
    for (Rank rank = 1; rank < size; ++rank) {
      text += std::to_string(random.below(static_cast<std::uint64_t>(rank))) + " " +
              std::to_string(rank) + "\n";
    }
    for (int more = 0; more < 3 * size; ++more) {
      const auto a = random.below(static_cast<std::uint64_t>(size));
      const auto b = random.below(static_cast<std::uint64_t>(size));
      if (a != b) text += std::to_string(a) + " " + std::to_string(b) + "\n";
    }
    const Topology topology = Topology::from_edges(text, "edges:any");
    (void)checked_turns(topology);
    const Turns turns(topology), again(Topology::from_edges(text, "edges:any"));
    for (Rank rank = 0; rank < size; ++rank) {
      EXPECT_TRUE(std::ranges::equal(turns.of(rank), again.of(rank)));
    }
  }
}

}  // namespace
}  // namespace stencil
