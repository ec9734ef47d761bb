#include "stencil/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace stencil {
namespace {

TEST(Random, IsSplitMix64) {
  Random random(1234567);  // reference values of Vigna's splitmix64.c
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
}

TEST(Random, StaysBelowItsBound) {
  Random random(7);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.below(6);
    EXPECT_LT(value, 6u);
    seen.insert(value);
    const double uniform = random.uniform();
    EXPECT_GE(uniform, 0.0);
    EXPECT_LT(uniform, 1.0);
  }
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  Random random(42);
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  double fourths = 0.0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0, 0.02);
  EXPECT_NEAR(fourths / kCount, 3.0, 0.1);
}

TEST(Random, NormalRepeatsFromItsSeed) {
  Random a(5);
  Random b(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.normal(), b.normal());
}

TEST(Random, DerivedStreamsDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) seeds.insert(Random::derive(1, stream));
  EXPECT_EQ(seeds.size(), 1000u);
  EXPECT_NE(Random::derive(1, 0), Random::derive(2, 0));
}

}  // namespace
}  // namespace stencil
