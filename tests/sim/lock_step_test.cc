// `sync` is D-PSGD: X <- W (X - lr G), computed here by plain matrix algebra.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stencil/core/mixing_weights.h"
#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"
#include "tests/support/topologies.h"

namespace stencil {
namespace {

constexpr std::size_t kDimension = 40;
constexpr double kRate = 0.1;

/// Gradient A_i (x - c_i), A_i diagonal: nothing random, different at each worker.
class Deterministic : public sim::Objective {
 public:
  std::size_t dimension() const override { return kDimension; }
  void initial(Rank rank, std::span<float> x) const override {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(rank) + 0.1F * i;
  }
  void step(Rank rank, std::span<float> x) override {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(stepped(rank, i, x[i]));
    }
  }
  double value(std::span<const float>) const override { return 0; }

  static double stepped(Rank rank, std::size_t i, double x) {
    const double curvature = 0.5 + 0.1 * ((rank + static_cast<int>(i)) % 5);
    const double centre = 0.3 * rank - 0.05 * static_cast<double>(i);
    return x - kRate * curvature * (x - centre);
  }
};

class LockStep : public ::testing::TestWithParam<std::string> {};

TEST_P(LockStep, equals_plain_matrix_algebra) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = test::topology_of(GetParam());
  config.exchange.mode = "sync";
  config.bucket_floats = 16;
  config.steps = 25;
  config.step_jitter = 1;
  config.link = {.latency = 0.02, .jitter = 0.1};
  if (config.topology.size() > 2) config.slow[2] = 7;
  config.exchange.settle_deadline = 60;
  Deterministic objective;
  sim::Simulation simulation(config, objective);
  simulation.run_until(simulation.end_time());
  ASSERT_TRUE(simulation.finish());

  const int n = simulation.size();
  const MixingWeights weights(config.topology);
  std::vector<std::vector<double>> x(n, std::vector<double>(kDimension));
  for (Rank rank = 0; rank < n; ++rank) {
    std::vector<float> initial(kDimension);
    objective.initial(rank, initial);
    std::ranges::copy(initial, x[rank].begin());
  }
  for (std::uint64_t round = 0; round < config.steps; ++round) {
    auto mixed = x;
    for (Rank i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kDimension; ++k) {
        mixed[i][k] = 0;
        for (Rank j = 0; j < n; ++j) {
          mixed[i][k] += weights.weight(i, j) * Deterministic::stepped(j, k, x[j][k]);
        }
      }
    }
    x = mixed;
  }
  double norm2 = 0, off2 = 0;
  for (Rank rank = 0; rank < n; ++rank) {
    EXPECT_EQ(simulation.status(rank).completed_round, config.steps);
    for (std::size_t k = 0; k < kDimension; ++k) {
      const double off = simulation.model(rank)[k] - x[rank][k];
      off2 += off * off;
      norm2 += x[rank][k] * x[rank][k];
    }
  }
  EXPECT_LT(std::sqrt(off2 / norm2), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Topologies, LockStep, ::testing::ValuesIn(test::topology_examples()),
                         [](const auto& info) { return test::test_name(info.param); });
INSTANTIATE_TEST_SUITE_P(Further, LockStep, ::testing::Values("ring:7", "torus:2x3", "star:6"),
                         [](const auto& info) { return test::test_name(info.param); });

TEST(LockStepOutage, survives_links_that_break_and_return) {
  std::vector<std::vector<float>> models;
  for (const bool broken : {false, true}) {
    sim::SimulationConfig config = test::plain_config();
    config.topology = Topology::parse("torus:2x3");
    config.exchange.mode = "sync";
    config.bucket_floats = 8;
    config.steps = 20;
    config.link = {.latency = 0.02, .jitter = 0.02};
    if (broken) config.outages = {{0, 1, 0.33, 0.9}, {0, 3, 0.5, 4.0}, {4, 5, 1.2, 1.3}};
    Deterministic objective;
    sim::Simulation simulation(config, objective);
    simulation.run_until(simulation.end_time());
    ASSERT_TRUE(simulation.finish());
    models.push_back(test::all_models(simulation));
  }
  EXPECT_EQ(models[0], models[1]) << "the same numbers, later";
}

class LockStepCoded : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(LockStepCoded, keeps_the_mean_and_agrees_to_the_codec) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:5");
  config.exchange.mode = "sync";
  config.exchange.codec = name(GetParam());
  config.bucket_floats = 16;
  config.steps = 80;
  const auto objective = sim::make_agreement(50, 3);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  ASSERT_TRUE(simulation.finish());
  EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
  const CodecSpec values{pulled_as(GetParam()), 0};
  EXPECT_LT(simulation.snapshot().consensus_distance,
            2 * test::codec_case(values).relative_error + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Codecs, LockStepCoded, ::testing::ValuesIn(test::dense_codecs()),
                         [](const auto& info) { return test::codec_name(info.param); });

}  // namespace
}  // namespace stencil
