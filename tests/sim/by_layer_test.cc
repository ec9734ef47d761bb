// Steps that take averages in part by part, each just before the forward pass uses it.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr double kStep = 0.1;  // seconds
constexpr std::size_t kFloats = 16'000;

/// Sweeps of `share` of a step each, two in each step.
sim::SimulationConfig config_of(double share, bool by_layer, std::uint64_t index) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:2x4");
  config.exchange = ExchangeOptions{};
  config.exchange.linger = 0.2;
  config.exchange.sweeps = 2;
  config.exchange.by_layer = by_layer;
  config.asks_for_parts = true;
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

TEST(ByLayer, NoBoundaryWaitsForSweepsAndAsManyAreMade) {
  std::vector<sim::Snapshot> ends;
  for (const bool by_layer : {false, true}) {
    sim::SimulationConfig config = config_of(0.3, by_layer, 9900);
    config.exchange.overlap = false;
    const auto objective = sim::make_quadratic(8, kFloats, 0.1, 0.1, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time());
    ends.push_back(simulation.snapshot());
    std::cout << ends.back().steps << " steps, " << ends.back().sweeps << " sweeps\n";
  }
  const auto rate = [](const sim::Snapshot& end) {
    return static_cast<double>(end.sweeps) / static_cast<double>(end.steps);
  };
  EXPECT_GT(static_cast<double>(ends[1].steps), 1.05 * static_cast<double>(ends[0].steps));
  EXPECT_NEAR(rate(ends[1]), rate(ends[0]), 0.1);
}

class ByLayerModeTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Modes, ByLayerModeTest, testing::Values("async", "bounded:2"),
                         [](const auto& one) {
                           const std::string mode = one.param;
                           return mode.substr(0, mode.find(':'));
                         });

TEST_P(ByLayerModeTest, TheMeanIsKeptThroughOutagesAndAllAgreeInTheEnd) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    sim::SimulationConfig config = config_of(0.5, true, 9910 + i);
    config.exchange.mode = GetParam();
    config.topology = Topology::parse("ring:6");
    config.outages = {{.a = 0, .b = 1, .from = 1, .to = 2}, {.a = 2, .b = 3, .from = 3, .to = 3.5}};
    config.freezes = {{.rank = 4, .from = 2, .to = 2.35}, {.rank = 5, .from = 4, .to = 6}};
    config.finish = true;
    const auto objective = sim::make_agreement(kFloats, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time());
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-3);
  }
}

TEST_P(ByLayerModeTest, WithSharedMemoryTheMeanIsKeptToo) {
  sim::SimulationConfig config = config_of(0.5, true, 9930);
  config.exchange.mode = GetParam();
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

TEST_P(ByLayerModeTest, AWorkerThatDiesAndReturnsGoesOnPartByPart) {
  sim::SimulationConfig config = config_of(0.3, true, 9940);
  config.exchange.mode = GetParam();
  config.finish = true;
  const auto objective = sim::make_agreement(kFloats, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(3);
  simulation.kill(2, sim::Death::kProcess);
  simulation.run_until(4);
  simulation.restart(2);
  simulation.run_until(simulation.end_time());
  EXPECT_GT(simulation.steps_of(2), 50U);
  EXPECT_TRUE(simulation.finish());
  EXPECT_LT(simulation.snapshot().consensus_distance, 1e-3);
}

TEST(ByLayer, RepeatsToTheByte) {
  const auto once = [] {
    const sim::SimulationConfig config = config_of(0.4, true, 9950);
    const auto objective = sim::make_quadratic(8, kFloats, 0.1, 0.1, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(3);
    return std::vector<float>(simulation.model(3).begin(), simulation.model(3).end());
  };
  EXPECT_EQ(once(), once());
}

}  // namespace
}  // namespace stencil
