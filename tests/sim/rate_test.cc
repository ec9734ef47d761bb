// What a worker may send in a second, and send and receive in an hour.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

/// Of worker `rank` so far.
std::uint64_t sent_by(const sim::Simulation& simulation, Rank rank) {
  return simulation.status(rank).transport.bytes_sent;
}
std::uint64_t data_of(const sim::Simulation& simulation, Rank rank) {
  const TransportStats stats = simulation.status(rank).transport;
  return stats.bytes_sent + stats.bytes_received;
}

sim::SimulationConfig small_steps(const std::string& topology) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse(topology);
  config.bucket_floats = 256;
  config.step_seconds = 0.1;
  return config;
}

TEST(Rate, nobody_sends_more_than_the_rate_and_all_agree) {
  constexpr std::size_t kFloats = 4096;
  for (const char* const topology : {"ring:4", "torus:3x3"}) {
    SCOPED_TRACE(topology);
    sim::SimulationConfig config = small_steps(topology);
    config.steps = 1200;
    config.finish = true;
    config.exchange.max_rate = "80kbit/s";  // a model takes 1.6 s, a step a tenth of one
    config.exchange.settle_deadline = 600;
    const auto objective = sim::make_agreement(kFloats, 1);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(1);
    const std::uint64_t greeted = test::total_counters(simulation).resynchronised;
    constexpr double kRate = 10'000, kFrame = 256 * 4 + 200;
    for (double time = 5; time <= simulation.end_time(); time += 5) {
      simulation.run_until(time);
      for (Rank rank = 0; rank < simulation.size(); ++rank) {
        EXPECT_LE(sent_by(simulation, rank), kRate * (time + Pacer::kBurst) + kFrame);
      }
    }
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      EXPECT_GE(sent_by(simulation, rank), 0.9 * kRate * simulation.end_time()) << "and uses it";
      for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
        EXPECT_EQ(n.link, LinkState::kUp);
        EXPECT_GT(n.sweeps, 5U) << rank << " starves " << n.rank;
      }
    }
    const EngineCounters all = test::total_counters(simulation);
    EXPECT_EQ(all.suspected, 0U) << "heartbeats do not wait";
    EXPECT_EQ(all.resynchronised, greeted) << "nothing is asked for twice";
    EXPECT_LT(simulation.snapshot().consensus_distance, 0.05);
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
    EXPECT_TRUE(simulation.finish());
  }
}

/// A payload takes thirteen seconds, or twice that, where its neighbours wait for ten.
TEST(Rate, of_one_worker_that_its_neighbours_do_not_know_is_soon_waited_for) {
  for (const char* const rate : {"160kbit/s", "80kbit/s"}) {
    SCOPED_TRACE(rate);
    sim::SimulationConfig config = small_steps("ring:4");
    config.bucket_floats = 65536;
    config.step_seconds = 5;
    config.steps = 480;
    config.rates[0] = rate;
    const auto objective = sim::make_agreement(2 * 65536, 1);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(1);
    const std::uint64_t greeted = test::total_counters(simulation).resynchronised;
    simulation.run_until(simulation.end_time());
    const EngineCounters all = test::total_counters(simulation);
    EXPECT_LE(all.resynchronised - greeted, 10U) << "they learn how long a reply takes";
    EXPECT_EQ(all.suspected, 0U);
    for (const Rank rank : {1, 3}) {
      for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
        EXPECT_GE(n.sweeps, 15U) << "of " << rank << " with " << n.rank;
      }
    }
    // A sweep takes two payloads of each end.
    std::uint64_t sweeps = 0;
    for (const Rank rank : {1, 3}) sweeps += simulation.status(rank).neighbours[0].sweeps;
    for (const NeighbourStatus& n : simulation.status(0).neighbours) sweeps += n.sweeps;
    constexpr std::uint64_t kSweep = 2 * 65536 * sizeof(float);
    EXPECT_GE(static_cast<double>(sweeps * kSweep), 0.9 * sent_by(simulation, 0))
        << "all that it sends is of use";
  }
}

/// Without the rate the same links would carry several times as much.
TEST(Rate, is_what_bounds_these_runs) {
  sim::SimulationConfig config = small_steps("ring:4");
  config.steps = 600;
  const auto objective = sim::make_agreement(4096, 1);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  EXPECT_GT(sent_by(simulation, 0), 30'000 * simulation.end_time());
}

TEST(DataCap, nobody_uses_more_than_its_allowance_and_all_agree) {
  sim::SimulationConfig config = small_steps("ring:4");
  config.step_seconds = 1;
  config.steps = 2 * 3600;
  config.exchange.data_cap = "4MB/hour";
  const auto objective = sim::make_agreement(1024, 1);
  sim::Simulation simulation(config, *objective);
  bool rested = false;
  std::uint64_t before = 0;
  for (int minute = 1; minute <= 120; ++minute) {
    simulation.run_until(60.0 * minute);
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      rested |= simulation.status(rank).rests;
      EXPECT_LE(simulation.status(rank).data.bytes, 4'100'000U);
    }
    if (minute == 60) before = data_of(simulation, 0);
  }
  EXPECT_TRUE(rested) << "there was no need to save";
  // Of the second hour: it goes on with the next allowance, and uses most of it.
  EXPECT_LE(data_of(simulation, 0) - before, 4'500'000U);
  EXPECT_GE(data_of(simulation, 0) - before, 3'000'000U);
  EXPECT_LT(simulation.snapshot().consensus_distance, 0.05);
  EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
}

/// A tenth of it would be used many times over between two looks of half a second.
TEST(DataCap, of_a_quick_link_does_not_go_before_it_is_looked_at) {
  sim::SimulationConfig config = small_steps("ring:4");
  config.bucket_floats = 1024;
  config.step_seconds = 0.01;
  config.steps = 3000;
  config.exchange.data_cap = "20MB/hour";
  const auto objective = sim::make_agreement(65536, 1);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    EXPECT_TRUE(simulation.status(rank).rests);
    EXPECT_GE(simulation.status(rank).data.bytes, 2'000'000U);
    EXPECT_LE(simulation.status(rank).data.bytes, 2'500'000U);
  }
}

/// One worker of four is on a metered link; the others average on without it while it rests.
TEST(DataCap, others_wait_for_nobody_that_rests) {
  sim::SimulationConfig config = small_steps("ring:4");
  config.step_seconds = 1;
  config.steps = 1200;
  config.exchange.mode = "bounded:3";
  config.exchange.data_cap = "1MB/hour";
  const auto objective = sim::make_agreement(1024, 1);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(simulation.end_time());
  EXPECT_TRUE(simulation.status(0).rests || simulation.status(0).data_pace < 1);
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    EXPECT_GE(simulation.steps_of(rank), 1100U);
  }
}

}  // namespace
}  // namespace stencil
