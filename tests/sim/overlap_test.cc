// Steps that are made part by part in the backward pass, with sweeps that begin there.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <vector>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr double kStep = 0.1;  // seconds
constexpr std::size_t kFloats = 16'000;

/// Sweeps of `share` of a step each, for as many as a step begins.
sim::SimulationConfig config_of(double share, bool overlap, std::uint64_t index) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:2x4");
  config.exchange.overlap = overlap;
  config.exchange.linger = 0.2;
  config.exchange.phase_lock = 0.15;
  config.exchange.sweeps = 2;
  config.step_seconds = kStep;
  config.step_jitter = 0.05;
  config.link.latency = 1e-4;
  // A worker sends its offers and answers as many.
  config.worker_bandwidth = 2 * 2 * 4.0 * kFloats / (share * kStep);
  config.steps = 150;
  config.bucket_floats = 500;
  config.seed = test::case_seed(index);
  return config;
}

struct Seen {
  double steps = 0;   ///< of all workers
  double sweeps = 0;  ///< in each of them
};

Seen run(const sim::SimulationConfig& config) {
  const int size = config.topology.size();
  const auto objective = sim::make_quadratic(size, kFloats, 0.1, 0.1, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  const sim::Snapshot end = simulation.snapshot();
  return {static_cast<double>(end.steps),
          static_cast<double>(end.sweeps) / static_cast<double>(end.steps)};
}

TEST(Overlap, LeavesLessToWaitForWhereSweepsTakeAPartOfAStep) {
  const Seen without = run(config_of(0.4, false, 9700));
  const Seen with = run(config_of(0.4, true, 9700));
  std::cout << "steps " << without.steps << " and " << with.steps << ", sweeps a step "
            << without.sweeps << " and " << with.sweeps << "\n";
  EXPECT_GT(with.steps, 1.05 * without.steps) << "boundaries wait less for their sweeps";
  EXPECT_NEAR(with.sweeps, without.sweeps, 0.1);
}

TEST(Overlap, HoldsUpNoSweepOfAnEarlierStep) {
  const Seen without = run(config_of(3, false, 9710));
  const Seen with = run(config_of(3, true, 9710));
  std::cout << "sweeps a step " << without.sweeps << " and " << with.sweeps << "\n";
  EXPECT_GT(with.sweeps, 0.95 * without.sweeps) << "thin links are as busy";
}

TEST(Overlap, LeavesAnUnmadePartOfAStepOutOfWhatIsSeenOfModels) {
  sim::SimulationConfig config = config_of(0.05, true, 9750);
  config.step_jitter = 0;
  const auto objective = sim::make_quadratic(8, kFloats, 0.1, 0.1, config.seed);
  sim::Simulation simulation(config, *objective);
  const std::vector<float> before(simulation.model(3).begin(), simulation.model(3).end());
  simulation.run_until(0.7 * kStep);  // four of eight parts, of two thirds of the step
  const std::span<const float> seen = simulation.model(3);
  EXPECT_TRUE(std::ranges::equal(seen.first(kFloats / 2), std::span(before).first(kFloats / 2)));
  EXPECT_NE(seen[kFloats / 2], before[kFloats / 2]);
  EXPECT_NE(seen.back(), before.back());
}

TEST(Overlap, KeepsTheMeanThroughOutagesAndEndsInAgreement) {
  for (int i = 0; i < test::runs_of(3); ++i) {
    sim::SimulationConfig config = config_of(0.5, true, 9720 + i);
    config.topology = Topology::parse("ring:6");
    config.outages = {{.a = 0, .b = 1, .from = 1, .to = 2}, {.a = 2, .b = 3, .from = 3, .to = 3.5}};
    config.finish = true;
    const auto objective = sim::make_agreement(kFloats, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time());
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-3);
  }
}

TEST(Overlap, WithSharedMemoryKeepsTheMeanToo) {
  sim::SimulationConfig config = config_of(0.5, true, 9730);
  for (const auto& [a, b] : config.topology.edges()) {
    config.shared.insert({a, b});
    config.shared.insert({b, a});
  }
  const auto objective = sim::make_agreement(kFloats, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
  EXPECT_LT(simulation.snapshot().consensus_distance, 1e-3);
}

TEST(Overlap, RepeatsToTheByte) {
  const auto once = [] {
    const sim::SimulationConfig config = config_of(0.4, true, 9740);
    const auto objective = sim::make_quadratic(8, kFloats, 0.1, 0.1, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(3);
    return std::vector<float>(simulation.model(0).begin(), simulation.model(0).end());
  };
  EXPECT_EQ(once(), once());
}

}  // namespace
}  // namespace stencil
