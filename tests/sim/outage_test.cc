// Broken links: short ones lose nothing, long ones lose what was in flight, once, and count it.
#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <vector>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

/// A run with `count` random outages, each between `shortest` and `longest` seconds, all over
/// before its end.
test::SimCase with_outages(std::uint64_t seed, int count, double shortest, double longest) {
  const std::vector<CodecSpec> lossy = test::lossy_codecs(100'000);
  const CodecSpec codec = seed % 2 == 0 ? CodecSpec() : lossy[seed % lossy.size()];
  auto one = test::random_case(seed, codec);
  one.config.slow.clear();
  one.config.links.clear();
  one.config.link.bandwidth = 0;
  one.config.exchange.sweeps = std::max(1.0, *one.config.exchange.sweeps);
  Random random(Random::derive(seed, 77));
  const auto edges = one.config.topology.edges();
  const double span = static_cast<double>(one.config.steps) * one.config.step_seconds;
  double last = span;
  for (int i = 0; i < count; ++i) {
    const auto& [a, b] = edges[random.below(edges.size())];
    const double from = 0.2 + span * random.uniform();
    const double to = from + shortest + (longest - shortest) * random.uniform();
    one.config.outages.push_back({a, b, from, to});
    last = std::max(last, to);
  }
  one.config.steps = static_cast<std::uint64_t>((last + 3) / one.config.step_seconds);
  one.text += " outages " + std::to_string(count);
  return one;
}

TEST(Outage, short_ones_lose_nothing_and_keep_the_mean) {
  std::uint64_t withdrawn = 0, merges = 0, returned = 0;
  for (int i = 0; i < 60; ++i) {
    const auto one = with_outages(test::case_seed(7000 + i), 1 + i % 12, 0.001, 1.5);
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    double drift = 0;
    for (int look = 1; look <= 40; ++look) {
      simulation.run_until(simulation.end_time() * look / 40);
      drift = std::max(drift, simulation.snapshot().mean_drift);
    }
    EXPECT_LT(drift, 1e-5);
    const EngineCounters total = test::total_counters(simulation);
    EXPECT_EQ(total.lost_in_flight, 0U);
    EXPECT_EQ(total.gone, 0U);
    EXPECT_EQ(total.gaps, 0U);
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    withdrawn += total.withdrawn;
    merges += total.merges;
    returned += total.returned;
    if (HasFailure()) return;
  }
  EXPECT_GT(withdrawn, 20U) << "the cases must meet what they are about";
  EXPECT_GT(merges, 20U);
  EXPECT_GT(returned, 20U);
}

TEST(Outage, longer_than_gone_after_shifts_the_mean_at_most_by_what_is_counted_as_lost) {
  for (int i = 0; i < 6; ++i) {
    auto one = with_outages(test::case_seed(7100 + i), 3, 61, 65);
    one.config.topology = Topology::parse("torus:2x3");
    one.config.exchange.codec = "fp32";
    const std::array<std::pair<Rank, Rank>, 3> cut = {{{0, 3}, {1, 2}, {4, 5}}};
    for (std::size_t k = 0; k < cut.size(); ++k) {
      auto& outage = one.config.outages[k];
      std::tie(outage.a, outage.b) = cut[k];
      outage.from += 4;  // when all links are up
      outage.to += 4;
    }
    one.config.steps += static_cast<std::uint64_t>(6 / one.config.step_seconds);
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    simulation.run_until(simulation.end_time());
    const EngineCounters total = test::total_counters(simulation);
    EXPECT_GE(total.gone, 6U);
    EXPECT_GE(total.returned, 6U);
    const double drift = simulation.snapshot().mean_drift;
    if (total.lost_in_flight == 0) {
      EXPECT_LT(drift, 1e-5);
    } else {
      EXPECT_LT(drift, 0.5);
    }
    // Nothing is lost twice: from now on the mean is kept.
    EXPECT_TRUE(simulation.finish());
    EXPECT_NEAR(simulation.snapshot().mean_drift, drift, 1e-5);
    EXPECT_EQ(test::total_counters(simulation).lost_in_flight, total.lost_in_flight);
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
        EXPECT_EQ(n.link, LinkState::kUp);
      }
    }
  }
}

TEST(Outage, buckets_in_flight_on_a_cut_link_go_to_the_other_neighbours_meanwhile) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:3");
  config.bucket_floats = 16;
  config.link.latency = 0.05;
  config.outages = {{0, 1, 1.01, 30}};
  const auto objective = sim::make_agreement(64, 4);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(2);
  const auto before = simulation.status(0).neighbours;
  simulation.run_until(10);
  const auto after = simulation.status(0).neighbours;
  EXPECT_EQ(after[0].link, LinkState::kSuspect);
  EXPECT_EQ(after[0].sweeps, before[0].sweeps);
  EXPECT_GT(after[1].sweeps, before[1].sweeps + 30);
  simulation.run_until(31);
  EXPECT_EQ(simulation.status(0).neighbours[0].link, LinkState::kUp);
}

/// Buckets so large, or links so thin, that messages in flight take longer than the deadline of a
/// reply. A reply is waited for while anything comes; otherwise all would be sent again and again.
TEST(ThinLinks, replies_that_take_long_are_waited_for) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:3x3");
  config.bucket_floats = 1000;
  config.link = {.latency = 0.02, .bandwidth = 1500};  // 2.7 seconds a bucket
  config.step_seconds = 1;
  config.steps = 240;
  const auto objective = sim::make_agreement(16'000, 3);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(1);
  const double before = simulation.snapshot().disagreement;
  simulation.run_until(simulation.end_time());
  EXPECT_LT(simulation.snapshot().disagreement, before / 20);
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    EXPECT_EQ(simulation.status(rank).engine.resynchronised, 4U) << rank << ": once an edge";
    EXPECT_EQ(simulation.status(rank).engine.stale_frames, 0U) << rank;
  }
}

TEST(ThinLinks, a_copy_that_takes_long_is_asked_for_once) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:2");
  config.bucket_floats = 1000;
  config.link = {.latency = 0.02,
                 .bandwidth = 1000};  // four seconds a bucket, and a window of four
  config.exchange.sweeps = 0;
  config.steps = 4000;
  const auto objective = sim::make_agreement(16'000, 3);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(10);
  simulation.kill(1);
  simulation.run_until(12);
  simulation.restart(1);
  simulation.run_until(120);
  EXPECT_EQ(simulation.status(1).joined_from, 0);
  EXPECT_EQ(simulation.status(1).copied, 17U);
  EXPECT_LE(simulation.status(1).engine.duplicates, 4U) << "a window, while the two greet";
}

}  // namespace
}  // namespace stencil
