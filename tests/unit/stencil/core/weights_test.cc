#include "stencil/core/mixing_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/random.h"

namespace stencil {
namespace {

constexpr double kPi = std::numbers::pi;

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

TEST(Weights, GiveNothingToAStranger) {
  EXPECT_EQ(MixingWeights(Topology::parse("torus:4x4")).weight(0, 5), 0.0);
}

TEST(Weights, OfAStarLeanOnTheBusiestEnd) {
  const MixingWeights weights(Topology::from_edges("0 1\n0 2\n0 3\n", "edges:star"));
  EXPECT_DOUBLE_EQ(weights.weight(1, 0), 0.25);
  EXPECT_DOUBLE_EQ(weights.weight(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(weights.weight(1, 1), 0.75);
}

double ring_lambda2(int n) {
  const double half = std::sin(kPi / n);
  return 4.0 * half * half;
}

TEST(Eigenvalues, OfRingsAgreeWithTheClosedForm) {
  for (const int n : {3, 10, 100, 399, 400, 1024}) {
    const auto ring = Topology::parse("ring:" + std::to_string(n));
    EXPECT_NEAR(lambda2(ring), ring_lambda2(n), 1e-6 * ring_lambda2(n)) << n;
    const double gap = ring_lambda2(n) / 3.0;
    if (n > 3) {
      EXPECT_NEAR(spectral_gap(ring), gap, 1e-6 * gap) << n;
    }
  }
}

TEST(Eigenvalues, OfToriAgreeWithTheClosedForm) {
  for (const auto& [spec, longest] : {std::pair{"torus:20x20", 20},
                                      {"torus:5x80", 80},
                                      {"torus:64x64", 64},
                                      {"torus:16x16x16", 16}}) {
    const double expected = ring_lambda2(longest);
    const auto torus = Topology::parse(spec);
    EXPECT_NEAR(lambda2(torus), expected, 1e-6 * expected) << spec;
    const double gap = expected / (1.0 + torus.mean_degree());
    EXPECT_NEAR(spectral_gap(torus), gap, 1e-6 * gap) << spec;
  }
}

TEST(Eigenvalues, OfPathsAndCompleteGraphsAgreeWithTheClosedForm) {
  const double half = std::sin(kPi / 800.0);
  const double path = 4.0 * half * half;
  EXPECT_NEAR(lambda2(Topology::parse("grid:1x400")), path, 1e-6 * path);
  EXPECT_NEAR(lambda2(Topology::parse("complete:400")), 400.0, 1e-6);
  EXPECT_NEAR(spectral_gap(Topology::parse("complete:400")), 1.0, 1e-12);
}

TEST(Eigenvalues, RepeatBitForBit) {
  const auto torus = Topology::parse("torus:12x9");
  EXPECT_EQ(lambda2(torus), lambda2(torus));
  EXPECT_EQ(spectral_gap(torus), spectral_gap(torus));
}

TEST(Eigenvalues, BoundTheDisagreementByTheEdges) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Random random(seed());
  const auto topology = Topology::parse("grid:5x6");
  const double bound = lambda2(topology);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> x(30);
    double mean = 0.0;
    for (double& value : x) mean += (value = random.normal()) / 30.0;
    double distance = 0.0;
    for (const double value : x) distance += (value - mean) * (value - mean);
    double along_edges = 0.0;
    for (const auto& [a, b] : topology.edges()) {
      const double d = x[static_cast<std::size_t>(a)] - x[static_cast<std::size_t>(b)];
      along_edges += d * d;
    }
    EXPECT_GE(along_edges, bound * distance);
  }
}

}  // namespace
}  // namespace stencil
