#include "stencil/core/usual_sweeps.h"

#include <gtest/gtest.h>

#include <utility>

namespace stencil {
namespace {

TEST(UsualSweeps, the_better_connected_the_fewer) {
  const auto usual = [](const char* topology) { return usual_sweeps(Topology::parse(topology)); };
  EXPECT_EQ(usual("ring:1"), 1) << "asks nobody anyway";
  EXPECT_EQ(usual("ring:2"), 1);
  EXPECT_EQ(usual("complete:4"), 2);
  EXPECT_EQ(usual("torus:2x2"), 2);
  EXPECT_EQ(usual("torus:2x4"), 3);
  EXPECT_EQ(usual("torus:4x4"), 4);
  EXPECT_EQ(usual("ring:8"), 5);
  EXPECT_EQ(usual("torus:3x3"), 5);
  EXPECT_EQ(usual("ring:16"), 8) << "more is nobody's default";
  EXPECT_EQ(usual("torus:64x64"), 8);
}

TEST(UsualSweeps, the_nearer_workers_are_to_stay_the_more) {
  const Topology topology = Topology::parse("ring:8");
  int before = 0;
  for (const double bound : {20.0, 5.0, 0.5, 0.05}) {
    const int sweeps = usual_sweeps(topology, bound);
    EXPECT_GT(sweeps, before);
    EXPECT_LE(straying(topology, sweeps), bound);
    EXPECT_GT(straying(topology, sweeps - 1), bound) << "fewer would not do";
    before = sweeps;
  }
}

TEST(UsualSweeps, the_turns_of_a_hypercube_bring_all_together) {
  for (const auto& [spec, turns] :
       {std::pair{"torus:2x2", 2}, {"torus:2x4", 3}, {"torus:4x4", 4}}) {
    EXPECT_NEAR(straying(Topology::parse(spec), turns), 0, 1e-12) << spec;
    EXPECT_GT(straying(Topology::parse(spec), turns - 1), 0.9) << spec;
  }
}

/// Two workers that meet every `every` steps differ by what their steps since have added up to.
TEST(UsualSweeps, two_who_meet_now_and_then_stray_by_what_their_steps_add_up_to) {
  const Topology pair = Topology::parse("ring:2");
  EXPECT_EQ(straying(Topology::parse("ring:1"), 1), 0);
  EXPECT_NEAR(straying(pair, 1), 0, 1e-12);
  // Every other time one step apart, of which each has half the square from the mean.
  EXPECT_NEAR(straying(pair, 0.5), 0.5, 1e-9);
  // Of four: none, 1, 2 and 3 steps, which momentum makes alike.
  const double two = 2 + 2 * 0.9, three = 3 + 2 * (2 * 0.9 + 0.81);
  EXPECT_NEAR(straying(pair, 0.25), (1 + two + three) / 4, 1e-9);
}

}  // namespace
}  // namespace stencil
