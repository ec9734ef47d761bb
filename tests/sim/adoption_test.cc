// A worker far behind a neighbour adopts its model: a trained network is never dragged back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kDimension = 60;
constexpr double kMeet = 150;  ///< seconds: 1,500 steps of the first worker

/// All edges of rank 0 carry nothing before kMeet; until then rank 0 makes 1,500 steps, and each of
/// the others one.
sim::SimulationConfig config_of(const Topology& topology, const CodecSpec& codec, bool shared) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = topology;
  config.adopt = true;
  config.exchange.codec = name(codec);
  config.exchange.sweeps = 2;
  config.exchange.overlap = false;
  config.bucket_floats = 16;
  config.step_seconds = 0.1;
  config.link = {.latency = 0.02, .jitter = 0.01};
  config.steps = 3000;
  for (const auto& [a, b] : topology.edges()) {
    if (a == 0) config.outages.push_back({a, b, 0, kMeet});
    if (shared) config.shared.insert({{a, b}, {b, a}});
  }
  for (Rank rank = 1; rank < topology.size(); ++rank) config.slow[rank] = 1100;
  return config;
}

double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

struct Met {
  double learnt = 0;   ///< how far rank 0 had come by itself
  double dragged = 0;  ///< the largest distance by which meeting the others moved it from there
  double apart = 0;    ///< the others from it, at the end
};

Met meet(const sim::SimulationConfig& config) {
  const auto objective =
      sim::make_quadratic(config.topology.size(), kDimension, 0.05, 0.0, config.seed);
  sim::Simulation simulation(config, *objective);
  std::vector<float> initial(kDimension);
  objective->initial(0, initial);
  simulation.run_until(kMeet);
  const auto model = simulation.model(0);
  const std::vector<float> before(model.begin(), model.end());
  EXPECT_EQ(simulation.steps_of(1), 1U);
  Met met{.learnt = distance(initial, before)};
  for (double time = kMeet; time < kMeet + 30; time += 0.1) {
    simulation.run_until(time);
    met.dragged = std::max(met.dragged, distance(simulation.model(0), before));
  }
  for (Rank rank = 1; rank < simulation.size(); ++rank) {
    // Its step lasts long, so it shows its model of the last boundary.
    const std::vector<double> z = simulation.z(rank);
    const std::vector<float> shown(z.begin(), z.end());
    met.apart = std::max(met.apart, distance(shown, simulation.model(0)));
    EXPECT_NE(simulation.status(rank).joined_from, kNoRank);
    EXPECT_EQ(simulation.status(rank).state, WorkerState::kTraining);
  }
  return met;
}

class Adoption : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(Adoption, a_trained_worker_that_meets_one_of_one_step_shows_no_jump) {
  for (const bool shared : {false, true}) {
    const Met met = meet(config_of(Topology::parse("ring:2"), GetParam(), shared));
    EXPECT_GT(met.learnt, 10) << "nothing to drag back";
    EXPECT_LT(met.dragged, 0.01 * met.learnt);
    EXPECT_LT(met.apart, 0.05 * met.learnt);
  }
}

/// By the same rule a model travels over the grid, hop by hop.
TEST_P(Adoption, whoever_is_behind_that_one_adopts_it_in_turn) {
  const Topology path = Topology::from_edges("0 1\n1 2\n2 3\n", "edges:path");
  const Met met = meet(config_of(path, GetParam(), false));
  EXPECT_LT(met.dragged, 0.01 * met.learnt);
  EXPECT_LT(met.apart, 0.05 * met.learnt);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Adoption, ::testing::ValuesIn(test::every_codec(100'000)),
                         [](const auto& info) { return test::codec_name(info.param); });

/// A slow worker that averages all along has come as far as its neighbours.
TEST(AdoptionFaults, slow_workers_are_not_taken_for_such_that_are_behind) {
  sim::SimulationConfig config = config_of(Topology::parse("ring:4"), {}, false);
  config.slow = {{2, 40}};
  config.outages = {{1, 2, 100, 130}, {2, 3, 100, 130}};
  config.steps = 1500;
  const auto objective = sim::make_quadratic(4, kDimension, 0.05, 0.0, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(140);
  EXPECT_LT(simulation.steps_of(2), 40U);
  for (Rank rank = 0; rank < 4; ++rank) EXPECT_EQ(simulation.status(rank).joined_from, kNoRank);
}

struct Resumed {
  Rank from = kNoRank;  ///< whose model it took over
  double lost = 0;      ///< steps that the network knew of and no longer counts
};

/// Worker 4 of a torus saves its state and is killed, at these seconds, and resumes at 32 s.
Resumed resume(double saved_at, double killed_at, const std::string& mode) {
  constexpr Rank kVictim = 4;
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:3x3");
  config.adopt = true;
  config.exchange.mode = mode;
  config.step_seconds = 0.1;
  config.link = {.latency = 0.001};
  config.steps = 1000;
  const auto objective = sim::make_quadratic(9, kDimension, 0.001, 0.0, config.seed);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(saved_at);
  const sim::Saved saved = simulation.save(kVictim);
  simulation.run_until(killed_at);
  double made = static_cast<double>(simulation.steps_of(kVictim));
  simulation.kill(kVictim, sim::Death::kProcess);
  simulation.run_until(32);
  simulation.restart(kVictim, &saved);
  simulation.run_until(40);
  double known = 0;
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    made += static_cast<double>(simulation.steps_of(rank));
    known += simulation.telemetry_z(rank)[0];
  }
  EXPECT_EQ(simulation.status(kVictim).state, WorkerState::kTraining);
  return {.from = simulation.status(kVictim).joined_from, .lost = made - known};
}

/// Else each death would take back, from all, what they have learnt since the checkpoint.
TEST(Resuming, who_has_missed_much_takes_over_what_the_others_have_learnt_meanwhile) {
  for (const std::string mode : {"async", "bounded:3"}) {
    const Resumed resumed = resume(20, 30, mode);
    EXPECT_NE(resumed.from, kNoRank) << mode;
    EXPECT_LT(resumed.lost, 0) << mode;
  }
}

/// Its optimizer's state is of its own model.
TEST(Resuming, who_has_missed_little_goes_on_with_its_own_model) {
  const Resumed resumed = resume(31.5, 31.5, "async");
  EXPECT_EQ(resumed.from, kNoRank);
}

/// Of a grid that has begun anew, all but one, which comes with what it had saved long ago.
TEST(StaleCheckpoint, does_not_win_over_a_living_grid) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("ring:5");
  config.adopt = true;
  config.step_seconds = 0.1;
  config.link = {.latency = 0.001};
  config.steps = 3000;
  const auto objective = sim::make_quadratic(5, kDimension, 0.001, 0.0, config.seed);
  sim::Simulation earlier(config, *objective);
  earlier.run_until(150);
  const sim::Saved saved = earlier.save(2);
  sim::Simulation simulation(config, *objective);
  simulation.run_until(20);
  simulation.kill(2, sim::Death::kProcess);
  simulation.run_until(25);
  simulation.restart(2, &saved);
  simulation.run_until(60);
  for (const Rank rank : {0, 1, 3, 4}) {
    EXPECT_EQ(simulation.status(rank).joined_from, kNoRank) << rank;
    EXPECT_EQ(simulation.status(rank).adopted, 0U) << rank;
    EXPECT_EQ(simulation.status(rank).state, WorkerState::kTraining) << rank;
    EXPECT_GT(simulation.steps_of(rank), 400U) << rank;
  }
}

}  // namespace
}  // namespace stencil
