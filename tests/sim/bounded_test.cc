// bounded:K: nobody is more than K steps ahead of a neighbour that is up.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

TEST(Bounded, nobody_is_more_than_K_steps_ahead_of_a_neighbour_that_is_up) {
  for (int i = 0; i < test::runs_of(16); ++i) {
    auto one = test::random_case(test::case_seed(6000 + i), {});
    const std::uint64_t bound = 1 + i % 5;
    one.config.exchange.mode = "bounded:" + std::to_string(bound);
    one.config.links.clear();
    one.config.steps *= 5;
    one.config.slow = {{0, 1.0 + 3 * (i % 3)}};
    SCOPED_TRACE(one.text + " " + one.config.exchange.mode);
    const auto objective = sim::make_agreement(one.dimension, one.config.seed);
    sim::Simulation simulation(one.config, *objective);
    struct Met {
      bool up = false;
      std::uint64_t at = 0;  ///< our step then
    };
    std::map<std::pair<Rank, Rank>, Met> met;
    std::vector<std::uint64_t> step(simulation.size()), before(simulation.size());
    const double look = one.config.step_seconds / 4;
    for (double time = look; time < simulation.end_time(); time += look) {
      simulation.run_until(time);
      std::vector<PumpStatus> status;
      before = step;
      for (Rank rank = 0; rank < simulation.size(); ++rank) {
        status.push_back(simulation.status(rank));
        step[rank] = simulation.steps_of(rank);
      }
      for (Rank rank = 0; rank < simulation.size(); ++rank) {
        for (const NeighbourStatus& n : status[rank].neighbours) {
          Met& pair = met[{rank, n.rank}];
          // Before the link was up it may have run ahead; from then on it must wait.
          if (pair.up && step[rank] > before[rank]) {
            EXPECT_LE(step[rank], step[n.rank] + bound + pair.at) << rank << " and " << n.rank;
          }
          pair.up = n.link == LinkState::kUp && n.state == WorkerState::kTraining;
          if (!pair.up) pair.at = step[rank] > bound ? step[rank] : 0;
        }
      }
      if (HasFailure()) return;
    }
    const auto least = *std::ranges::min_element(step);
    EXPECT_GT(least, 2 * bound) << "somebody is stuck";
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-5);
  }
}

/// Steps much shorter than the way to a neighbour: whoever begins first must not run ahead of those
/// that do not train yet.
TEST(Bounded, the_bound_holds_from_the_first_step_on) {
  for (int i = 0; i < 300; ++i) {
    auto one = test::random_case(test::case_seed(9000 + i), {});
    const std::uint64_t bound = 1 + i % 3;
    sim::SimulationConfig& config = one.config;
    config.exchange.mode = "bounded:" + std::to_string(bound);
    config.meet = true;
    config.finish = false;
    config.links.clear();
    config.step_seconds = config.link.latency / (1 << i % 8);
    config.steps = 20;
    config.bucket_floats = 64;
    SCOPED_TRACE(one.text + " " + config.exchange.mode);
    const auto objective = sim::make_agreement(64, config.seed);
    sim::Simulation simulation(config, *objective);
    const auto edges = config.topology.edges();
    const double look = config.step_seconds;
    std::uint64_t least = 0;
    for (double time = look; least < config.steps && time < 500; time += look) {
      simulation.run_until(time);
      least = config.steps;
      for (const auto& [a, b] : edges) {
        const auto [less, more] = std::minmax(simulation.steps_of(a), simulation.steps_of(b));
        EXPECT_LE(more, less + bound) << a << " and " << b << " after " << time << " s";
        least = std::min(least, less);
      }
      if (HasFailure()) return;
    }
    EXPECT_EQ(least, config.steps) << "somebody is stuck";
  }
}

/// The steps of a worker that comes back count anew: it holds up the others from then on, but not
/// until it has taken all the steps that they have.
TEST(Bounded, a_worker_that_comes_back_holds_up_nobody) {
  for (const double away : {1.0, 20.0, 80.0}) {
    SCOPED_TRACE(away);
    sim::SimulationConfig config = test::plain_config();
    config.topology = Topology::parse("ring:4");
    config.exchange.mode = "bounded:2";
    config.bucket_floats = 16;
    const auto objective = sim::make_agreement(32, 1);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(10);
    simulation.kill(1);
    simulation.run_until(10 + away);
    simulation.restart(1);
    simulation.run_until(20 + away);
    std::vector<std::uint64_t> before;
    for (Rank rank = 0; rank < 4; ++rank) before.push_back(simulation.steps_of(rank));
    simulation.run_until(30 + away);
    for (Rank rank = 0; rank < 4; ++rank) {
      EXPECT_GT(simulation.steps_of(rank), before[rank] + 50) << rank;
    }
    const auto made = [&](Rank rank) { return simulation.steps_of(rank) - before[rank]; };
    EXPECT_NEAR(static_cast<double>(made(0)), static_cast<double>(made(1)), 4) << "still bounded";
  }
}

TEST(Bounded, a_worker_held_back_names_who_holds_it) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:3");
  config.exchange.mode = "bounded:2";
  config.slow = {{1, 50.0}};
  config.bucket_floats = 16;
  const auto objective = sim::make_agreement(32, 1);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(4);
  EXPECT_EQ(simulation.status(0).limit.limited_by, 1);
  EXPECT_EQ(simulation.status(2).limit.limited_by, 1);
  EXPECT_EQ(simulation.status(0).limit.step, 2U);
  EXPECT_LT(simulation.status(0).engine.sweeps, 10U) << "asks without pause while it waits";
  simulation.kill(1);
  simulation.run_until(9);  // suspect: nobody waits for it any more
  EXPECT_GT(simulation.steps_of(0), 20U);
  EXPECT_GT(simulation.steps_of(2), 20U);
}

}  // namespace
}  // namespace stencil
