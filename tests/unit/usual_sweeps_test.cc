#include "stencil/core/usual_sweeps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace stencil {
namespace {

TEST(UsualSweeps, the_better_connected_the_fewer) {
  const auto usual = [](const char* topology) { return usual_sweeps(Topology::parse(topology)); };
  EXPECT_EQ(usual("ring:1"), 1) << "asks nobody anyway";
  EXPECT_EQ(usual("ring:2"), 1);
  EXPECT_EQ(usual("complete:4"), 2);
  EXPECT_EQ(usual("torus:2x2"), 2);
  EXPECT_EQ(usual("torus:2x4"), 3);
  EXPECT_EQ(usual("torus:3x3"), 3);
  EXPECT_EQ(usual("complete:8"), 2);
  EXPECT_EQ(usual("torus:4x4"), 4);
  EXPECT_EQ(usual("ring:8"), 5);
  EXPECT_EQ(usual("torus:5x5"), 5);
  EXPECT_EQ(usual("torus:6x6"), 6);
  EXPECT_EQ(usual("ring:16"), 6) << "more is nobody's default";
  EXPECT_EQ(usual("torus:64x64"), 6);
}

TEST(UsualSweeps, the_nearer_workers_are_to_stay_the_more) {
  const Topology topology = Topology::parse("torus:2x4");
  int before = 0;
  for (const double bound : {10.0, 0.6, 0.2, 0.05}) {
    const int sweeps = usual_sweeps(topology, bound);
    EXPECT_GT(sweeps, before);
    EXPECT_LE(straying(topology, sweeps), bound);
    EXPECT_GT(straying(topology, sweeps - 1 + 1e-9), bound) << "fewer would not do";
    before = sweeps;
  }
}

TEST(UsualSweeps, a_rings_straying_is_that_of_its_known_spectrum) {
  for (const int size : {3, 8, 17}) {
    double sum = 0;
    for (int k = 1; k < size; ++k) {
      const double a = std::exp(-2.5 * (1 - std::cos(2 * std::numbers::pi * k / size)));
      sum += a * a * (1 + 0.9 * a) / ((1 - 0.9 * a) * (1 - a * a));
    }
    EXPECT_NEAR(straying(Topology::parse("ring:" + std::to_string(size)), 2.5), sum, 1e-9 * sum);
  }
}

TEST(UsualSweeps, nobody_strays_alone_and_two_meet_at_once) {
  EXPECT_EQ(straying(Topology::parse("ring:1"), 1), 0);
  EXPECT_LT(straying(Topology::parse("ring:2"), 1), 0.05);
}

}  // namespace
}  // namespace stencil
