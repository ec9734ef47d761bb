// Links that are slow to answer, and neighbours that are silent for long: all is back by itself.
#include <gtest/gtest.h>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

void expect_all_up(const sim::Simulation& simulation) {
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
      EXPECT_EQ(n.link, LinkState::kUp) << rank << " of " << n.rank;
    }
  }
}

TEST(Delay, a_neighbour_behind_seconds_of_delay_is_not_suspected) {
  for (const double jitter : {0.0, 3.0}) {
    SCOPED_TRACE(jitter);
    sim::SimulationConfig config = test::plain_config();
    config.topology = Topology::parse("ring:4");
    config.link = {.latency = 3, .jitter = jitter};
    config.step_seconds = 0.5;
    config.steps = 600;
    const auto objective = sim::make_agreement(64, 1);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(100);  // a round trip has been measured everywhere
    const EngineCounters early = test::total_counters(simulation);
    simulation.run_until(simulation.end_time());
    const EngineCounters all = test::total_counters(simulation);
    EXPECT_LE(all.suspected - early.suspected, 0U);
    EXPECT_EQ(all.resynchronised - early.resynchronised, 0U);
    EXPECT_GT(all.sweeps, 50U);
    expect_all_up(simulation);
  }
}

TEST(Delay, ten_minutes_of_silence_by_a_firewall_end_by_themselves) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:4");
  config.step_seconds = 0.5;
  config.steps = 1600;
  config.outages = {{0, 1, 20, 620}, {2, 3, 20, 620}};
  const auto objective = sim::make_agreement(64, 1);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(600);
  EXPECT_GT(test::total_counters(simulation).gone, 0U);
  simulation.run_until(simulation.end_time());
  expect_all_up(simulation);
  EXPECT_TRUE(simulation.finish());
}

}  // namespace
}  // namespace stencil
