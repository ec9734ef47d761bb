#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "stencil/core/mixing_weights.h"
#include "stencil/core/random.h"

namespace stencil {
namespace {

constexpr double kPi = std::numbers::pi;

using Matrix = std::vector<std::vector<double>>;

/// All eigenvalues of a symmetric matrix, ascending, by cyclic Jacobi rotations.
std::vector<double> jacobi_eigenvalues(Matrix a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) off += a[p][q] * a[p][q];
    }
    if (off < 1e-28) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0.0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        const double t =
            (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0);
        const double s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[k][p];
          a[k][p] = c * left - s * a[k][q];
          a[k][q] = s * left + c * a[k][q];
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double up = a[p][k];
          a[p][k] = c * up - s * a[q][k];
          a[q][k] = s * up + c * a[q][k];
        }
      }
    }
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i][i];
  std::sort(values.begin(), values.end());
  return values;
}

double dense_lambda2(const Topology& topology) {
  const auto n = static_cast<std::size_t>(topology.size());
  Matrix laplacian(n, std::vector<double>(n, 0.0));
  for (const auto& [a, b] : topology.edges()) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    laplacian[i][i] += 1.0;
    laplacian[j][j] += 1.0;
    laplacian[i][j] = laplacian[j][i] = -1.0;
  }
  return jacobi_eigenvalues(std::move(laplacian))[1];
}

double dense_gap(const Topology& topology) {
  const MixingWeights weights(topology);
  const auto n = static_cast<std::size_t>(topology.size());
  Matrix w(n, std::vector<double>(n, 0.0));
  for (Rank i = 0; i < topology.size(); ++i) {
    for (Rank j = 0; j < topology.size(); ++j) {
      w[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = weights.weight(i, j);
    }
  }
  const auto values = jacobi_eigenvalues(std::move(w));
  return 1.0 - std::max(std::abs(values.front()), std::abs(values[n - 2]));
}

/// A random tree with some further edges, reproducible from the seed.
Topology random_graph(Random& random) {
  const auto size = 2 + random.below(40);
  std::string text;
  for (std::uint64_t rank = 1; rank < size; ++rank) {
    text += std::to_string(rank) + " " + std::to_string(random.below(rank)) + "\n";
  }
  for (std::uint64_t i = random.below(size); i > 0; --i) {
    const auto a = random.below(size);
    const auto b = random.below(size);
    if (a != b) text += std::to_string(a) + " " + std::to_string(b) + "\n";
  }
  return Topology::from_edges(text, "edges:random");
}

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

class Weights : public ::testing::TestWithParam<const char*> {};

TEST_P(Weights, AreSymmetricNonNegativeAndDoublyStochastic) {
  const auto topology = Topology::parse(GetParam());
  const MixingWeights weights(topology);
  std::vector<double> columns(static_cast<std::size_t>(topology.size()), 0.0);
  for (Rank i = 0; i < topology.size(); ++i) {
    const auto row = weights.row(i);
    EXPECT_EQ(row.size(), topology.neighbours(i).size() + 1);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
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

TEST_P(Weights, EigenvaluesAgreeWithADenseSolver) {
  const auto topology = Topology::parse(GetParam());
  if (topology.size() == 1) {
    EXPECT_EQ(lambda2(topology), std::numeric_limits<double>::infinity());
    EXPECT_EQ(spectral_gap(topology), 1.0);
    return;
  }
  const double expected = dense_lambda2(topology);
  EXPECT_NEAR(lambda2(topology), expected, 1e-7 * expected);
  const double gap = dense_gap(topology);
  EXPECT_NEAR(spectral_gap(topology), gap, 1e-7 * gap);
}

INSTANTIATE_TEST_SUITE_P(Specs, Weights,
                         ::testing::Values("ring:1", "ring:2", "ring:3", "ring:4", "ring:25",
                                           "torus:2x2", "torus:2x3", "torus:3x3", "torus:5x7",
                                           "torus:2x2x2", "torus:3x3:moore", "torus:4x6:moore",
                                           "grid:1x12", "grid:3x5", "grid:4x4:moore", "complete:2",
                                           "complete:7"));

TEST(Weights, GiveNothingToAStranger) {
  EXPECT_EQ(MixingWeights(Topology::parse("torus:4x4")).weight(0, 5), 0.0);
}

TEST(Weights, OfAStarLeanOnTheBusiestEnd) {
  const MixingWeights weights(Topology::from_edges("0 1\n0 2\n0 3\n", "edges:star"));
  EXPECT_DOUBLE_EQ(weights.weight(1, 0), 0.25);
  EXPECT_DOUBLE_EQ(weights.weight(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(weights.weight(1, 1), 0.75);
}

TEST(Eigenvalues, OfRandomGraphsAgreeWithADenseSolver) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Random random(seed());
  for (int round = 0; round < 60; ++round) {
    const auto topology = random_graph(random);
    const double expected = dense_lambda2(topology);
    EXPECT_NEAR(lambda2(topology), expected, 1e-7 * expected) << topology.size();
    const double gap = dense_gap(topology);
    EXPECT_NEAR(spectral_gap(topology), gap, 1e-7 * gap) << topology.size();
  }
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
