// Workers that die, and come back.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

sim::SimulationConfig nine(std::uint64_t seed) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:3x3");
  config.bucket_floats = 16;
  config.seed = seed;
  config.link = {.latency = 0.01, .jitter = 0.02};
  config.step_jitter = 0.3;
  config.finish = true;
  return config;
}

constexpr Rank kVictim = 4;
const std::vector<Rank> kOthers = {0, 1, 2, 3, 5, 6, 7, 8};

TEST(Failure, the_others_go_on_and_come_to_agree_and_name_the_dead) {
  for (int i = 0; i < test::runs_of(8); ++i) {
    const std::uint64_t seed = test::case_seed(8000 + i);
    SCOPED_TRACE(seed);
    const auto config = nine(seed);
    const auto objective = sim::make_agreement(64, seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(0.6 + 0.05 * i);
    double before = test::spread2(simulation, kOthers);
    const std::uint64_t steps = simulation.steps_of(0);
    simulation.kill(kVictim);
    for (const double time : {2.0, 6.0, 12.0}) {
      simulation.run_until(time);
      const double now = test::spread2(simulation, kOthers);
      EXPECT_LT(now, std::max(before, 1e-8));
      before = now;
    }
    EXPECT_GT(simulation.steps_of(0), steps + 80);
    simulation.run_until(70);
    std::uint64_t named = 0;
    for (const Rank rank : kOthers) {
      for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
        EXPECT_EQ(n.link, n.rank == kVictim ? LinkState::kGone : LinkState::kUp);
        named += n.rank == kVictim ? 1 : 0;
      }
    }
    EXPECT_EQ(named, 4U);
    EXPECT_TRUE(simulation.finish()) << "the dead hold up nobody";
    EXPECT_LT(test::spread2(simulation, kOthers), 1e-6);
    for (const Rank rank : kOthers) {
      EXPECT_EQ(simulation.status(rank).state, WorkerState::kFrozen);
    }
  }
}

/// Nobody waits for an answer of a silent neighbour, long before that counts as gone.
TEST(Failure, one_that_dies_shortly_before_the_end_holds_up_nobody) {
  for (int i = 0; i < test::runs_of(8); ++i) {
    const std::uint64_t seed = test::case_seed(8050 + i);
    SCOPED_TRACE(seed);
    auto config = nine(seed);
    config.exchange.settle_deadline = 15;
    const auto objective = sim::make_agreement(64, seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(simulation.end_time() - 1 - 0.1 * i);
    simulation.kill(kVictim);
    simulation.run_until(simulation.end_time());
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(test::spread2(simulation, kOthers), 1e-6);
  }
}

/// Workers with parts of one objective, so that their models always differ a little.
TEST(Failure, restarted_it_copies_a_neighbour_and_is_soon_as_near_as_the_others) {
  for (const double away : {1.0, 20.0, 80.0}) {
    for (int i = 0; i < test::runs_of(4); ++i) {
      const std::uint64_t seed = test::case_seed(8100 + i);
      SCOPED_TRACE(std::to_string(seed) + " away " + std::to_string(away));
      const auto config = nine(seed);
      const auto objective = sim::make_quadratic(9, 64, 0.05, 0.2, seed);
      sim::Simulation simulation(config, *objective);
      simulation.run_until(8);
      // A machine needs longer than a second to come back.
      simulation.kill(kVictim, away < 3 ? sim::Death::kProcess : sim::Death::kMachine);
      simulation.run_until(8 + away);
      simulation.restart(kVictim);
      simulation.run_until(8 + away + 2);
      const PumpStatus status = simulation.status(kVictim);
      EXPECT_NE(status.joined_from, kNoRank);
      EXPECT_TRUE(config.topology.are_neighbours(kVictim, status.joined_from));
      const std::uint64_t at = simulation.steps_of(kVictim);
      double time = 8 + away + 2;
      while (simulation.steps_of(kVictim) < at + 50) simulation.run_until(time += 0.1);
      std::vector<double> mean(64);
      for (const Rank rank : kOthers) {
        for (std::size_t k = 0; k < 64; ++k) mean[k] += simulation.model(rank)[k] / 8;
      }
      double off2 = 0;
      for (std::size_t k = 0; k < 64; ++k) {
        off2 += std::pow(simulation.model(kVictim)[k] - mean[k], 2);
      }
      // Each of the others stands off by sqrt(spread2 / 8); theirs differ too.
      EXPECT_LT(std::sqrt(off2), 2 * std::sqrt(test::spread2(simulation, kOthers) / 8));
      for (const NeighbourStatus& n : status.neighbours) EXPECT_EQ(n.link, LinkState::kUp);
      EXPECT_TRUE(simulation.finish());
    }
  }
}

TEST(Failure, all_but_one_may_die) {
  auto config = nine(test::case_seed(8200));
  config.topology = Topology::parse("ring:4");
  const auto objective = sim::make_agreement(32, 5);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(1);
  for (const Rank rank : {0, 1, 3}) simulation.kill(rank);
  simulation.run_until(5);
  const std::uint64_t steps = simulation.steps_of(2);
  simulation.run_until(10);
  EXPECT_GT(simulation.steps_of(2), steps + 30);
  simulation.run_until(80);
  EXPECT_TRUE(simulation.finish());
}

TEST(Failure, two_neighbours_restarted_together_begin_with_what_the_others_have) {
  auto config = nine(test::case_seed(8300));
  const auto objective = sim::make_agreement(64, 5);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(10);
  simulation.kill(4);
  simulation.kill(5);
  simulation.run_until(12);
  simulation.restart(4);
  simulation.restart(5);
  simulation.run_until(25);
  EXPECT_NE(simulation.status(4).joined_from, kNoRank);
  EXPECT_NE(simulation.status(5).joined_from, kNoRank);
  EXPECT_TRUE(simulation.finish());
  EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
}

}  // namespace
}  // namespace stencil
