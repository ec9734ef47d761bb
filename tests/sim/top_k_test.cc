// Codec topk on the pump of real workers: every coordinate is exchanged in the end, whatever
// breaks.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "stencil/core/error.h"
#include "stencil/mix/codecs/kinds.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr const char* kTenth = "topk:0.1";

sim::SimulationConfig config_of(const char* topology, std::uint64_t index) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = test::topology_of(topology);
  config.exchange.codec = kTenth;
  config.seed = test::case_seed(index);
  config.bucket_floats = 40;
  config.link = {.latency = 0.01, .jitter = 0.02};
  config.finish = true;
  config.exchange.settle_deadline = 600;
  return config;
}

/// From different starts, without steps: only the exchange moves models.
TEST(TopKRun, BringsAllToAgreementWithoutAStep) {
  for (const char* topology : {"ring:2", "ring:8", "torus:4x4", "complete:4", "star:5"}) {
    for (const double jitter : {0.0, 0.02}) {  // in step, so that offers cross, and not
      SCOPED_TRACE(topology);
      sim::SimulationConfig config = config_of(topology, 9300);
      config.link.jitter = jitter;
      config.steps = 3000;
      const auto objective = sim::make_agreement(100, config.seed);
      sim::Simulation simulation(config, *objective);
      simulation.run_until(simulation.end_time());
      EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
      EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    }
  }
}

TEST(TopKRun, SendsItsShareOfTheBytes) {
  std::array<double, 2> bytes{};
  constexpr std::array kCodecs = {"fp32", "topk:0.01"};
  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    sim::SimulationConfig config = config_of("ring:4", 9350);
    config.exchange.codec = kCodecs[i];
    config.bucket_floats = 20'000;
    const auto objective = sim::make_agreement(100'000, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time());
    bytes[i] = static_cast<double>(simulation.bytes_sent());
  }
  // 12 bytes for each of one in a hundred where fp32 has 8 for each; and headers.
  EXPECT_NEAR(bytes[1] / bytes[0], 0.015, 0.005);
}

TEST(TopKRun, SixtyFourWorkersKeepTheMeanNeverSpreadAndAgree) {
  for (const char* topology : {"torus:8x8", "star:64"}) {
    SCOPED_TRACE(topology);
    sim::SimulationConfig config = config_of(topology, 9400);
    config.step_jitter = 0.5;
    config.slow = {{7, 50.0}};
    const auto objective = sim::make_agreement(60, config.seed);
    sim::Simulation simulation(config, *objective);
    const double start = simulation.snapshot().disagreement;
    for (int look = 1; look <= 10; ++look) {
      simulation.run_until(simulation.end_time() * look / 10);
      EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
      EXPECT_LE(simulation.snapshot().disagreement, start * (1 + 1e-5));
    }
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
  }
}

TEST(TopKRun, BrokenLinksLoseNothing) {
  std::uint64_t withdrawn = 0, merges = 0;
  for (int i = 0; i < 20; ++i) {
    auto one = test::random_case(test::case_seed(9500 + i), parse_codec(kTenth));
    one.config.slow.clear();
    one.config.links.clear();
    one.config.exchange.sweeps = std::max(1.0, *one.config.exchange.sweeps);
    one.config.steps = 400;
    Random random(Random::derive(one.config.seed, 77));
    const auto edges = one.config.topology.edges();
    for (int k = 0; k < 1 + i % 12; ++k) {
      const auto& [a, b] = edges[random.below(edges.size())];
      const double from = 0.2 + 4 * random.uniform();
      one.config.outages.push_back({a, b, from, from + 1.5 * random.uniform()});
    }
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    const double start = simulation.snapshot().disagreement;
    for (int look = 1; look <= 40; ++look) {
      simulation.run_until(simulation.end_time() * look / 40);
      ASSERT_LT(simulation.snapshot().mean_drift, 1e-5);
      ASSERT_LE(simulation.snapshot().disagreement, start * (1 + 1e-5));
    }
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    const EngineCounters total = test::total_counters(simulation);
    EXPECT_EQ(total.lost_in_flight, 0U);
    withdrawn += total.withdrawn;
    merges += total.merges;
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      EXPECT_EQ(simulation.status(rank).pump.malformed, 0U);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(withdrawn, 20U) << "the cases must meet what they are about";
  EXPECT_GT(merges, 20U);
}

TEST(TopKRun, WhoReturnsAgreesWithTheOthersAgain) {
  sim::SimulationConfig config = config_of("torus:3x3", 9600);
  config.steps = 3000;
  const auto objective = sim::make_agreement(100, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(5);
  simulation.kill(4);
  simulation.run_until(10);
  simulation.restart(4);
  simulation.run_until(200);
  EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
  EXPECT_TRUE(simulation.finish());
}

TEST(TopKRun, SyncIsRefusedWithARemedy) {
  sim::SimulationConfig config = config_of("ring:4", 1);
  config.exchange.mode = "sync";
  const auto objective = sim::make_agreement(100, 1);
  try {
    const sim::Simulation simulation(config, *objective);
    FAIL() << "took sync";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("topk:0.1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("use mode async"), std::string::npos);
  }
}

}  // namespace
}  // namespace stencil
