// straying() compared with the engine's workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "stencil/core/usual_sweeps.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kFloats = 512;
constexpr std::size_t kSteps = 120, kWarm = 40;
constexpr double kMomentum = 0.9;

/// Steps of unit variance along noise with momentum; measures the distances of workers at each
/// step.
class Drifting final : public sim::Objective {
 public:
  Drifting(int workers, std::uint64_t seed) {
    for (int rank = 0; rank < workers; ++rank) {
      randoms_.emplace_back(Random::derive(seed, static_cast<std::uint64_t>(rank)));
      auto& step = steps_.emplace_back(kFloats);
      for (double& v : step) v = randoms_.back().normal();
      stood_.emplace_back();
    }
  }
  std::size_t dimension() const override { return kFloats; }
  void initial(Rank /*rank*/, std::span<float> x) const override { std::ranges::fill(x, 0.0F); }
  void step(Rank rank, std::span<float> x) override {
    const auto i = static_cast<std::size_t>(rank);
    stood_[i].emplace_back(x.begin(), x.end());
    for (std::size_t k = 0; k < kFloats; ++k) {
      double& v = steps_[i][k];
      v = kMomentum * v + std::sqrt(1 - kMomentum * kMomentum) * randoms_[i].normal();
      x[k] += static_cast<float>(v);
    }
  }
  double value(std::span<const float> /*x*/) const override { return 0; }

  /// In units of straying(), if no worker was faster than another.
  [[nodiscard]] double straying() const {
    double squares = 0;
    for (std::size_t step = kWarm; step < kSteps; ++step) {
      for (std::size_t k = 0; k < kFloats; ++k) {
        double mean = 0;
        for (const auto& worker : stood_) mean += worker.at(step)[k] / size();
        for (const auto& worker : stood_) squares += std::pow(worker[step][k] - mean, 2);
      }
    }
    // Over all workers for the mean of one, times as many for the square of the mean's own step.
    return squares / static_cast<double>(kFloats * (kSteps - kWarm));
  }

 private:
  [[nodiscard]] double size() const { return static_cast<double>(stood_.size()); }

  std::vector<Random> randoms_;
  std::vector<std::vector<double>> steps_;
  std::vector<std::vector<std::vector<float>>> stood_;  ///< by rank and step
};

struct Found {
  double straying = 0;
  double models_sent = 0;  ///< by each worker in a step
};

Found found(const Topology& topology, int sweeps, double jitter, bool overlap = false) {
  sim::SimulationConfig config = test::plain_config();
  config.exchange.overlap = overlap;
  config.topology = topology;
  config.exchange.linger = 0.1;
  config.exchange.phase_lock = 0.15;
  config.exchange.sweeps = sweeps;
  config.link.latency = 1e-4;
  config.step_seconds = 0.1;
  config.step_jitter = jitter;
  config.steps = kSteps + 1;
  config.bucket_floats = 64;
  config.seed = test::case_seed(9100);
  Drifting objective(topology.size(), config.seed);
  sim::Simulation simulation(config, objective);
  simulation.run_until((1.2 + jitter) * simulation.end_time());  // boundaries take their time too
  const auto steps = static_cast<double>(simulation.snapshot().steps);
  return {objective.straying(),
          static_cast<double>(simulation.bytes_sent()) / steps / (kFloats * sizeof(float))};
}

struct Case {
  const char* topology;
  int sweeps;
};

class StrayingRun : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Grids, StrayingRun,
                         ::testing::Values(Case{"torus:2x2", 1}, Case{"torus:2x2", 2},
                                           Case{"torus:2x4", 2}, Case{"torus:2x4", 3},
                                           Case{"ring:8", 1}, Case{"ring:8", 4},
                                           Case{"torus:3x3", 5}, Case{"torus:4x4", 1},
                                           Case{"torus:4x4", 4}, Case{"grid:3x3", 3}));

TEST_P(StrayingRun, IsWhatWasReckonedWhereWorkersKeepInStep) {
  const Topology topology = Topology::parse(GetParam().topology);
  const double told = straying(topology, GetParam().sweeps);
  const Found seen = found(topology, GetParam().sweeps, 0);
  EXPECT_NEAR(seen.straying, told, 0.1 * told + 0.02);
}

/// Nobody waits for the last worker, yet all workers in step have each other's steps.
TEST_P(StrayingRun, IsHardlyMoreWhereStepsVary) {
  const Topology topology = Topology::parse(GetParam().topology);
  const double told = straying(topology, GetParam().sweeps);
  const Found seen = found(topology, GetParam().sweeps, 0.1);
  EXPECT_LT(seen.straying, 1.2 * told + 0.05);
}

/// Turns are kept there too, and a worker whose part is not ready yet answers when it is.
TEST_P(StrayingRun, IsHardlyMoreWhereStepsAreMadeInParts) {
  const Topology topology = Topology::parse(GetParam().topology);
  const double told = straying(topology, GetParam().sweeps);
  const Found seen = found(topology, GetParam().sweeps, 0.1, true);
  std::cout << seen.straying << " for " << told << ", " << seen.models_sent << " models sent\n";
  EXPECT_LT(seen.straying, 1.1 * told + 0.01);
  EXPECT_LT(seen.models_sent, 1.3 * GetParam().sweeps);
}

/// A bucket that one end has asked for the other need not ask for: a meeting takes one offer and
/// one answer.
TEST_P(StrayingRun, TakesOneModelASweep) {
  const Topology topology = Topology::parse(GetParam().topology);
  const Found seen = found(topology, GetParam().sweeps, 0.1);
  EXPECT_LT(seen.models_sent, 1.3 * GetParam().sweeps);  // and a fifth of headers, so small
}

}  // namespace
}  // namespace stencil
