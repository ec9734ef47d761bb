// Network-wide means at every worker, large networks, and values at the edge of the codec.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

TEST(Telemetry, every_worker_knows_the_network_mean_of_steps) {
  for (int i = 0; i < 6; ++i) {
    auto one = test::random_case(test::case_seed(9000 + i), parse_codec("fp16"));
    one.config.links.clear();
    one.config.link.latency = 0.002;
    one.config.exchange.sweeps = 4;
    one.config.slow = {{0, 4.0}};
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    simulation.run_until(8);
    double mean = 0, ones = 0;
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      mean += static_cast<double>(simulation.steps_of(rank)) / simulation.size();
    }
    EXPECT_TRUE(simulation.finish());
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      const auto z = simulation.telemetry_z(rank);
      ones += z[1] / simulation.size();
      EXPECT_NEAR(z[0] / mean, 1, 0.1) << "rank " << rank;
    }
    EXPECT_NEAR(ones, 1, 1e-9);
  }
}

/// 64 workers, the largest grid of these tests.
class Large : public ::testing::TestWithParam<std::tuple<const char*, CodecSpec>> {};

TEST_P(Large, sixty_four_workers_keep_the_mean_and_agree) {
  const auto [name, codec] = GetParam();
  sim::SimulationConfig config = test::plain_config();
  config.topology = test::topology_of(name);
  config.exchange.codec = stencil::name(codec);
  config.seed = test::case_seed(9100);
  config.bucket_floats = 16;
  config.step_jitter = 0.5;
  config.link = {.latency = 0.02, .jitter = 0.05};
  config.slow = {{7, 50.0}};
  config.finish = true;
  config.exchange.settle_deadline =
      600;  // the middle of a star measures 63 edges, one after the other
  const auto objective = sim::make_agreement(24, config.seed);
  sim::Simulation simulation(config, *objective);
  const double start = simulation.snapshot().disagreement;
  for (int look = 1; look <= 10; ++look) {
    simulation.run_until(simulation.end_time() * look / 10);
    const sim::Snapshot seen = simulation.snapshot();
    EXPECT_LT(seen.mean_drift, 1e-5);
    if (codec == CodecSpec{}) {
      EXPECT_LE(seen.disagreement, start * (1 + 1e-5));
    }
  }
  if (std::string_view(name) == "ring:64") return;  // agreement takes thousands of steps there
  EXPECT_TRUE(simulation.finish());
  EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
  EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Networks, Large,
                         ::testing::Combine(::testing::Values("torus:8x8", "ring:64", "torus:4x4x4",
                                                              "star:64"),
                                            ::testing::ValuesIn(test::dense_codecs())));

/// During training (no finish): the accuracy of the running exchange alone.
TEST(Running, falls_to_the_floor_that_each_codec_states) {
  for (const CodecSpec& codec : test::dense_codecs()) {
    for (const char* name : {"ring:8", "torus:4x4", "torus:2x3", "complete:4"}) {
      SCOPED_TRACE(name);
      sim::SimulationConfig config = test::plain_config();
      config.topology = Topology::parse(name);
      config.exchange.codec = stencil::name(codec);
      config.seed = test::case_seed(9200);
      config.bucket_floats = 16;
      config.link = {.latency = 0.01, .jitter = 0.02};
      config.steps = 400;
      const auto objective = sim::make_agreement(64, config.seed);
      sim::Simulation simulation(config, *objective);
      simulation.run_until(simulation.end_time());
      EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
      EXPECT_LT(simulation.snapshot().consensus_distance, test::codec_case(codec).floor)
          << stencil::name(codec);
    }
  }
}

/// One worker alone, and the smallest networks.
TEST(Small, one_worker_trains_and_finishes_alone) {
  for (const char* mode : {"async", "bounded:1", "sync"}) {
    sim::SimulationConfig config = test::plain_config();
    config.topology = Topology::parse("ring:1");
    config.exchange.mode = mode;
    config.finish = true;
    const auto objective = sim::make_quadratic(1, 10, 0.1, 0, 1);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time() + 1);
    EXPECT_TRUE(simulation.finish()) << mode;
    EXPECT_NEAR(simulation.snapshot().objective, 0, 1e-3) << mode;
  }
}

/// Tiny and huge values through a lossy codec: saturated or flushed, never a NaN, and the mean
/// stays.
class Extremes : public sim::Objective {
 public:
  explicit Extremes(float scale) : scale_(scale) {}
  std::size_t dimension() const override { return 32; }
  void initial(Rank rank, std::span<float> x) const override {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale_ * (1 + 0.1F * rank);
  }
  void step(Rank, std::span<float>) override {}
  double value(std::span<const float>) const override { return 0; }

 private:
  float scale_;
};

class Survival : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(Survival, tiny_and_huge_values_stay_finite_and_keep_the_mean) {
  for (const float scale : {1e-42F, 1e-8F, 1e-4F, 6e4F, 1e6F, 1e30F}) {
    SCOPED_TRACE(scale);
    sim::SimulationConfig config = test::plain_config();
    config.topology = Topology::parse("torus:2x3");
    config.exchange.codec = name(GetParam());
    config.bucket_floats = 16;
    Extremes objective(scale);
    sim::Simulation simulation(config, objective);
    simulation.run_until(simulation.end_time());
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      for (const float v : simulation.model(rank)) ASSERT_TRUE(std::isfinite(v));
      EXPECT_EQ(simulation.status(rank).pump.non_finite, 0U);
    }
    if (scale > 1e-30F) {
      EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, Survival, ::testing::ValuesIn(test::dense_codecs()),
                         [](const auto& info) { return test::codec_name(info.param); });

}  // namespace
}  // namespace stencil
