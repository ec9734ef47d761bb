// Edges in shared memory among edges with messages, and edges that only one end shares: the
// guarantees of the exchange stay the same.
#include <gtest/gtest.h>

#include <vector>

#include "stencil/core/random.h"
#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

/// Shares each direction of each edge independently, with this probability.
void share_some(sim::SimulationConfig& config, double chance, bool both_ways) {
  Random random(Random::derive(config.seed, 0x73686172ULL));
  for (const auto& [a, b] : config.topology.edges()) {
    const bool there = random.uniform() < chance;
    const bool back = both_ways ? there : random.uniform() < chance;
    if (there) config.shared.emplace(a, b);
    if (back) config.shared.emplace(b, a);
  }
}

class Shared : public ::testing::TestWithParam<int> {};

TEST_P(Shared, keeps_the_mean_never_spreads_and_ends_in_agreement) {
  const std::vector<CodecSpec> lossy = test::lossy_codecs(100'000);
  for (int i = 0; i < test::runs_of(12); ++i) {
    const std::uint64_t seed = test::case_seed(5000 + GetParam() * 12 + i);
    const auto which = static_cast<std::size_t>(GetParam() + i / 3) % lossy.size();
    test::SimCase one = test::random_case(seed, i % 3 == 2 ? lossy[which] : CodecSpec());
    one.config.bucket_floats = 16;
    share_some(one.config, GetParam() % 2 == 0 ? 0.5 : 1, GetParam() % 4 < 2);
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    const double start = simulation.snapshot().disagreement;
    double highest = 0;
    double drift = 0;
    for (int look = 1; look <= 40; ++look) {
      simulation.run_until(simulation.end_time() * look / 40);
      highest = std::max(highest, simulation.snapshot().disagreement);
      drift = std::max(drift, simulation.snapshot().mean_drift);
    }
    EXPECT_LT(drift, 1e-5);
    if (one.config.exchange.codec == "fp32") {
      EXPECT_LE(highest, start * (1 + 1e-5));
    }
    EXPECT_TRUE(simulation.finish()) << "not all froze because all was settled";
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    const EngineCounters total = test::total_counters(simulation);
    if (!one.config.shared.empty()) {
      EXPECT_GT(total.shares, 0U);
    }
    EXPECT_EQ(total.held, 0U);
    EXPECT_EQ(total.gaps, 0U);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Shared, ::testing::Range(0, 8));

TEST(SharedOnly, sends_no_model_over_the_wire_and_repeats_bit_for_bit) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:2x2");
  config.bucket_floats = 64;
  config.steps = 50;
  share_some(config, 1, true);
  std::vector<float> models[2];
  for (auto& model : models) {
    const auto objective = sim::make_agreement(1000, 7);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time());
    model = test::all_models(simulation);
    EXPECT_LT(simulation.snapshot().disagreement, 1e-6);
    // 4 workers, 50 sweeps each: a tenth of what the model alone would take.
    EXPECT_LT(simulation.bytes_sent(), 4U * 50 * 1000 * sizeof(float) / 10);
    EXPECT_GT(simulation.status(0).pump.bytes_shared, 40U * 1000 * sizeof(float));
  }
  EXPECT_EQ(models[0], models[1]);
}

TEST(SharedOnly, a_neighbour_that_died_and_came_back_is_met_anew) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:4");
  config.bucket_floats = 16;
  config.steps = 3000;
  share_some(config, 1, true);
  const auto objective = sim::make_agreement(64, 3);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(20);
  simulation.kill(2);
  simulation.run_until(120);
  EXPECT_FALSE(simulation.status(1).neighbours[1].shared);
  simulation.restart(2);
  simulation.run_until(200);
  for (const auto& neighbour : simulation.status(2).neighbours) EXPECT_TRUE(neighbour.shared);
  for (const auto& neighbour : simulation.status(1).neighbours) EXPECT_TRUE(neighbour.shared);
  EXPECT_GT(simulation.status(2).engine.shares, 0U);
  EXPECT_LT(simulation.snapshot().disagreement, 1e-6);
  // A worker whose model was copied is still asked: nobody has a request open by messages.
  const EngineCounters before = test::total_counters(simulation);
  simulation.run_until(400);
  const EngineCounters after = test::total_counters(simulation);
  EXPECT_EQ(after.shares_declined, before.shares_declined);
  EXPECT_GT(after.shares, before.shares);
}

}  // namespace
}  // namespace stencil
