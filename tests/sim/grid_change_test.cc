// Workers come and go while the others train on: one call at each end of an edge, and the mean is
// kept.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kDimension = 60;

/// Five workers on an edge list, which begin apart and only have to agree.
sim::SimulationConfig config_of(const CodecSpec& codec, std::uint64_t index) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::from_edges("0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n", "edges:five");
  config.exchange.codec = name(codec);
  config.exchange.sweeps = 2;
  config.seed = test::case_seed(index);
  config.bucket_floats = 16;
  config.step_jitter = 0.5;
  config.link = {.latency = 0.02, .jitter = 0.04};
  config.steps = 2000;
  return config;
}

std::vector<double> sum_of(const sim::Simulation& simulation) {
  std::vector<double> sum(kDimension);
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    const std::vector<double> z = simulation.z(rank);
    for (std::size_t i = 0; i < kDimension; ++i) sum[i] += z[i];
  }
  return sum;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double length(const std::vector<double>& a) {
  return distance(a, std::vector<double>(a.size()));
}

std::vector<Rank> neighbours_of(const sim::Simulation& simulation, Rank rank) {
  std::vector<Rank> ranks;
  for (const auto& neighbour : simulation.status(rank).neighbours) ranks.push_back(neighbour.rank);
  return ranks;
}

class GridChange : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(GridChange, a_worker_more_copies_one_and_takes_part_and_the_sum_is_kept) {
  const sim::SimulationConfig config = config_of(GetParam(), 7000);
  const auto objective = sim::make_agreement(kDimension, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(5);
  const std::vector<double> before = sum_of(simulation);
  const Rank rank = simulation.add({1, 4});
  EXPECT_EQ(rank, 5);
  double time = 5;
  while (simulation.status(rank).state == WorkerState::kJoining && time < 30) {
    simulation.run_until(time += 0.1);
  }
  ASSERT_EQ(simulation.status(rank).state, WorkerState::kTraining);
  EXPECT_NE(simulation.status(rank).joined_from, kNoRank);
  EXPECT_EQ(neighbours_of(simulation, rank), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(neighbours_of(simulation, 4), (std::vector<Rank>{0, 3, 5}));
  const std::vector<double> joined = sum_of(simulation);
  EXPECT_GT(distance(joined, before), 1) << "a model more";
  simulation.run_until(time + 20);
  EXPECT_LT(distance(sum_of(simulation), joined), 1e-4 * length(joined));
  EXPECT_GT(simulation.status(rank).engine.sweeps, 10U);
  for (const Rank other : {1, 4}) {
    for (const auto& neighbour : simulation.status(other).neighbours) {
      EXPECT_GT(neighbour.sweeps, 10U) << other << " with " << neighbour.rank;
    }
  }
  EXPECT_LT(simulation.snapshot().consensus_distance, 0.05);
}

TEST_P(GridChange, a_worker_less_completes_what_is_under_way_and_the_sum_is_kept) {
  const sim::SimulationConfig config = config_of(GetParam(), 7100);
  const auto objective = sim::make_agreement(kDimension, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(0.4);  // in the middle of much
  const std::vector<double> before = sum_of(simulation);
  simulation.remove(3);
  simulation.run_until(5);
  EXPECT_TRUE(neighbours_of(simulation, 3).empty());
  EXPECT_EQ(neighbours_of(simulation, 1), (std::vector<Rank>{0, 2}));
  const std::uint64_t swept = simulation.status(3).engine.sweeps;
  simulation.run_until(20);
  EXPECT_EQ(simulation.status(3).engine.sweeps, swept);
  EXPECT_LT(distance(sum_of(simulation), before), 1e-4 * length(before));
  for (const Rank rank : {0, 1, 2, 4}) {
    EXPECT_EQ(simulation.status(rank).engine.lost_in_flight, 0U);
    EXPECT_LT(distance(simulation.z(rank), simulation.z(0)), 0.05);
  }
  EXPECT_GT(distance(simulation.z(3), simulation.z(0)), 0.1) << "it has trained on alone";
}

INSTANTIATE_TEST_SUITE_P(Codecs, GridChange, ::testing::ValuesIn(test::every_codec(100'000)),
                         [](const auto& info) { return test::codec_name(info.param); });

/// An absent neighbour cannot complete anything, but is forgotten all the same.
TEST(GridChangeFaults, a_dead_neighbour_can_be_removed) {
  const sim::SimulationConfig config = config_of({}, 7200);
  const auto objective = sim::make_agreement(kDimension, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(2);
  simulation.kill(2);
  simulation.remove(2);
  simulation.run_until(2 + config.exchange.gone_after + 10);
  EXPECT_EQ(neighbours_of(simulation, 1), (std::vector<Rank>{0, 3}));
  EXPECT_EQ(neighbours_of(simulation, 3), (std::vector<Rank>{1, 4}));
}

/// Turns that became free are reused.
TEST(GridChangeFaults, who_comes_after_one_that_left_takes_its_place) {
  const sim::SimulationConfig config = config_of({}, 7300);
  const auto objective = sim::make_agreement(kDimension, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(2);
  const Rank rank = simulation.add({0, 2});
  simulation.run_until(10);
  simulation.remove(rank);
  simulation.run_until(20);
  const std::vector<double> sum = sum_of(simulation);
  const Rank another = simulation.add({0, 2});
  EXPECT_EQ(another, rank + 1);
  simulation.run_until(40);
  EXPECT_EQ(simulation.status(another).state, WorkerState::kTraining);
  EXPECT_EQ(neighbours_of(simulation, 0), (std::vector<Rank>{1, 4, another}));
  EXPECT_GT(distance(sum_of(simulation), sum), 1);
}

/// Turns that a worker leaves are free at once, also while things under way with it are completed.
TEST(GridChangeFaults, a_worker_may_come_at_the_moment_at_which_another_leaves) {
  sim::SimulationConfig config = config_of({}, 7400);
  config.link = {.latency = 1};
  const auto objective = sim::make_agreement(kDimension, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(10);
  simulation.remove(2);
  const Rank rank = simulation.add({1, 3});
  simulation.run_until(60);
  EXPECT_EQ(simulation.status(rank).state, WorkerState::kTraining);
  EXPECT_EQ(neighbours_of(simulation, 1), (std::vector<Rank>{0, 3, rank}));
  EXPECT_EQ(neighbours_of(simulation, 3), (std::vector<Rank>{1, 4, rank}));
}

/// A ring of three becomes a chain of ten, whose ends are far from each other: each worker has to
/// come nearer to its neighbours, and word of all has further to go.
TEST(GridChangeFigures, the_end_of_a_run_heeds_the_grid_as_it_is_then) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:3");
  config.finish = true;
  config.exchange.settle_target = 1e-3;
  config.exchange.settle_deadline = 600;
  config.step_jitter = 0.2;
  config.steps = 600;
  config.links[{8, 9}] = {.latency = 0.5};
  const auto objective = sim::make_objective("quadratic", 10, kDimension, 0.1, 1, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(1);
  const PumpStatus before = simulation.status(0);
  for (Rank rank = 3; rank < 10; ++rank) EXPECT_EQ(simulation.add({rank - 1}), rank);
  simulation.run_until(simulation.end_time());
  const PumpStatus after = simulation.status(0);
  EXPECT_EQ(after.grid.version, 7U);
  EXPECT_GE(after.grid.reach, 8U);
  EXPECT_LT(after.settle_threshold, before.settle_threshold / 3);
  EXPECT_TRUE(simulation.finish());
  EXPECT_LT(simulation.snapshot().consensus_distance, config.exchange.settle_target);
}

TEST(GridChangeFigures, sweeps_follow_the_grid) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:4x4");
  config.exchange.sweeps = std::nullopt;
  config.steps = 2000;
  const auto objective = sim::make_agreement(kDimension, 1);
  sim::Simulation simulation(config, *objective);
  const auto sweeps_of_a_step = [&](double from) {
    const std::uint64_t sweeps = simulation.status(0).engine.sweeps;
    const std::uint64_t steps = simulation.steps_of(0);
    simulation.run_until(from + 20);
    return static_cast<double>(simulation.status(0).engine.sweeps - sweeps) /
           static_cast<double>(simulation.steps_of(0) - steps);
  };
  EXPECT_NEAR(sweeps_of_a_step(0), 4, 0.5);
  for (Rank rank = 4; rank < 16; ++rank) simulation.remove(rank);
  simulation.run_until(30);
  EXPECT_EQ(simulation.status(0).grid.turns, 2U);
  EXPECT_NEAR(sweeps_of_a_step(30), 2, 0.25);
  const Rank rank = simulation.add({0, 1, 2, 3});
  EXPECT_EQ(simulation.status(rank).grid.turns, simulation.status(0).grid.turns);
  EXPECT_GE(simulation.status(0).grid.turns, 4U);
}

}  // namespace
}  // namespace stencil
