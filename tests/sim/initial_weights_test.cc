// Workers that drew other initial weights all begin with those of rank 0, or of the lowest rank
// there is: they walk over the grid, before anybody has made a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

/// Initial weights of each worker's own, of widely different sizes. Remembers the weights with
/// which each took its first step.
class Drawn final : public sim::Objective {
 public:
  Drawn(std::size_t dimension, std::uint64_t seed, std::map<Rank, Rank> alike = {})
      : dimension_(dimension), seed_(seed), alike_(std::move(alike)) {}
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  void initial(Rank rank, std::span<float> x) const override {
    const auto it = alike_.find(rank);
    Random random(
        Random::derive(seed_, static_cast<std::uint64_t>(it == alike_.end() ? rank : it->second)));
    for (float& value : x) {
      const double size = random.below(2) == 0 ? 1.0 : 1e-4;
      value = static_cast<float>(size * random.normal());
    }
  }
  void step(Rank rank, std::span<float> x) override {
    first.try_emplace(rank, x.begin(), x.end());
    for (float& value : x) value *= 0.999F;
  }
  [[nodiscard]] double value(std::span<const float>) const override { return 0; }
  [[nodiscard]] std::vector<float> of(Rank rank) const {
    std::vector<float> x(dimension_);
    initial(rank, x);
    return x;
  }
  std::map<Rank, std::vector<float>> first;

 private:
  std::size_t dimension_;
  std::uint64_t seed_;
  std::map<Rank, Rank> alike_;  ///< rank -> the rank whose weights it draws too
};

sim::SimulationConfig meeting(sim::SimulationConfig config) {
  config.meet = config.hashed = true;
  config.adopt = true;
  config.exchange.initial = "lowest";
  return config;
}

/// Lets all workers but those in `absent` start at random within `spread` seconds.
void start_at_random(sim::Simulation& simulation, Random& random, double spread,
                     const std::set<Rank>& absent = {}) {
  std::multimap<double, Rank> starts;
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    if (random.below(3) == 0 && !absent.contains(rank)) continue;
    simulation.kill(rank);
    if (!absent.contains(rank)) starts.emplace(spread * random.uniform(), rank);
  }
  for (const auto& [when, rank] : starts) {
    simulation.run_until(when);
    simulation.restart(rank);
  }
}

/// Runs until all workers but `absent` have made a step.
void run_until_stepped(sim::Simulation& simulation, const Drawn& drawn,
                       const std::set<Rank>& absent, double longest) {
  const std::size_t all = static_cast<std::size_t>(simulation.size()) - absent.size();
  for (double time = 0; drawn.first.size() < all && time < longest; time += 0.5) {
    simulation.run_until(time);
  }
  EXPECT_EQ(drawn.first.size(), all) << "not all have begun";
}

/// How far x is from the nearest multiple of `of`, by its worst value.
double off_the_line(const std::vector<float>& x, const std::vector<float>& of) {
  double along = 0, length = 0, worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    along += static_cast<double>(x[k]) * of[k];
    length += static_cast<double>(of[k]) * of[k];
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    worst = std::max(worst, std::abs(x[k] - along / length * of[k]));
  }
  return worst;
}

class InitialWeights : public ::testing::TestWithParam<const char*> {};

TEST_P(InitialWeights, all_begin_with_those_of_rank_0_however_they_start) {
  for (int i = 0; i < test::runs_of(60); ++i) {
    const std::uint64_t seed = test::case_seed(i);
    test::SimCase random_case = test::random_case(seed, {});
    SCOPED_TRACE(random_case.text);
    random_case.config.exchange.mode = GetParam();
    // Who cannot be greeted within the moment that a newcomer waits comes to a network that trains.
    for (auto& [edge, link] : random_case.config.links) {
      link.latency = std::min(link.latency, 0.4);
    }
    Drawn drawn(random_case.dimension, seed);
    sim::Simulation simulation(meeting(random_case.config), drawn);
    Random random(seed);
    start_at_random(simulation, random, 3);
    run_until_stepped(simulation, drawn, {}, 200);
    for (const auto& [rank, weights] : drawn.first) {
      ASSERT_EQ(weights, drawn.of(0)) << "of rank " << rank;
      ASSERT_EQ(simulation.status(rank).initial.rank, 0);
    }
    ASSERT_EQ(simulation.status(0).adopted, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, InitialWeights, ::testing::Values("async", "bounded:2", "sync"),
                         [](const auto& info) {
                           const std::string mode = info.param;
                           return mode.substr(0, mode.find(':'));
                         });

/// One seed elsewhere, and weights that rank 0 alone has loaded.
TEST_P(InitialWeights, that_rank_0_alone_has_loaded_reach_all_that_share_others) {
  for (const char* const topology : {"torus:2x2", "torus:3x3", "ring:5", "ring:8"}) {
    for (const double late : {0.0, 2.0, 5.0}) {
      for (int i = 0; i < test::runs_of(10); ++i) {
        const std::uint64_t seed = test::case_seed(1000 + i);
        SCOPED_TRACE(std::string(topology) + ", " + std::to_string(late) + " s late, seed " +
                     std::to_string(seed));
        sim::SimulationConfig config = meeting(test::plain_config());
        config.topology = Topology::parse(topology);
        config.seed = seed;
        config.bucket_floats = 8;
        config.exchange.mode = GetParam();
        std::map<Rank, Rank> alike;
        for (Rank rank = 1; rank < config.topology.size(); ++rank) alike[rank] = 1;
        Drawn drawn(40, seed, alike);
        sim::Simulation simulation(config, drawn);
        Random random(seed);
        simulation.kill(0);
        start_at_random(simulation, random, 1, {0});
        simulation.run_until(1 + late);
        EXPECT_TRUE(drawn.first.empty()) << "rank 0 may still come";
        simulation.restart(0);
        run_until_stepped(simulation, drawn, {}, 60);
        for (const auto& [rank, weights] : drawn.first) {
          ASSERT_EQ(weights, drawn.of(0)) << "of rank " << rank;
        }
      }
    }
  }
}

TEST(InitialWeightsFaults, without_rank_0_all_begin_with_those_of_the_lowest_rank_there_is) {
  for (const char* const topology : {"ring:6", "torus:3x3", "complete:5"}) {
    SCOPED_TRACE(topology);
    const std::uint64_t seed = test::case_seed(1);
    sim::SimulationConfig config = meeting(test::plain_config());
    config.topology = Topology::parse(topology);
    config.seed = seed;
    config.bucket_floats = 8;
    config.exchange.start_deadline = 20;
    Drawn drawn(40, seed);
    sim::Simulation simulation(config, drawn);
    Random random(seed);
    start_at_random(simulation, random, 3, {0});
    simulation.run_until(15);
    EXPECT_TRUE(drawn.first.empty()) << "rank 0 may still come";
    run_until_stepped(simulation, drawn, {0}, 60);
    for (const auto& [rank, weights] : drawn.first) {
      EXPECT_EQ(weights, drawn.of(1)) << "of rank " << rank;
    }
    // Whoever comes to a network that trains takes over its model, whatever the rank.
    simulation.run_until(62);
    simulation.restart(0);
    simulation.run_until(90);
    EXPECT_NE(simulation.status(0).joined_from, kNoRank);
    for (Rank rank = 1; rank < simulation.size(); ++rank) {
      EXPECT_EQ(simulation.status(rank).joined_from, kNoRank);
    }
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      double apart = 0;
      const auto x = simulation.model(rank), y = simulation.model(1);
      for (std::size_t k = 0; k < x.size(); ++k)
        apart = std::max<double>(apart, std::abs(x[k] - y[k]));
      EXPECT_LT(apart, 0.1) << "of rank " << rank;
    }
  }
}

TEST(InitialWeightsFaults, a_source_that_dies_mid_copy_leaves_no_half_model) {
  for (int i = 0; i < test::runs_of(20); ++i) {
    const std::uint64_t seed = test::case_seed(100 + i);
    SCOPED_TRACE(seed);
    sim::SimulationConfig config = meeting(test::plain_config());
    config.topology = Topology::parse("ring:5");
    config.seed = seed;
    config.bucket_floats = 8;
    config.link.bandwidth = 20'000;  // a copy takes a moment
    Drawn drawn(400, seed);
    sim::Simulation simulation(config, drawn);
    Random random(seed);
    simulation.run_until(0.3 * random.uniform());
    const Rank victim = static_cast<Rank>(random.below(5));
    simulation.kill(victim);
    simulation.run_until(1 + random.uniform());
    simulation.restart(victim);
    run_until_stepped(simulation, drawn, {}, 100);
    for (const auto& [rank, weights] : drawn.first) {
      // Whoever begins after others have averaged with workers whose steps have scaled the values,
      // slowly; half of another model would lie far off.
      ASSERT_LT(off_the_line(weights, drawn.of(0)), 0.1) << "of rank " << rank;
    }
  }
}

/// Nothing is asked for: that rank 0 holds them travels alone, and nobody waits for longer.
TEST(InitialWeightsFaults, equal_weights_do_not_travel) {
  sim::SimulationConfig config = meeting(test::plain_config());
  config.topology = Topology::parse("torus:3x3");
  config.bucket_floats = 8;
  std::map<Rank, Rank> alike;
  for (Rank rank = 0; rank < 9; ++rank) alike[rank] = 4;
  Drawn drawn(40, 1, alike);
  sim::Simulation simulation(config, drawn);
  simulation.run_until(2);
  EXPECT_EQ(drawn.first.size(), 9U);
  for (Rank rank = 0; rank < 9; ++rank) {
    EXPECT_EQ(simulation.status(rank).copied, 0U);
    EXPECT_EQ(simulation.status(rank).initial, (Origin{0, simulation.status(0).initial.hash}));
  }
}

TEST(InitialWeightsFaults, weights_that_differ_are_refused_where_they_must_be_the_same) {
  sim::SimulationConfig config = meeting(test::plain_config());
  config.topology = Topology::parse("ring:2");
  config.exchange.initial = "same";
  Drawn drawn(40, 1);
  sim::Simulation simulation(config, drawn);
  simulation.run_until(3);
  EXPECT_NE(simulation.status(1).refused.find("initial weights"), std::string::npos);
  EXPECT_TRUE(drawn.first.empty());
}

/// What each worker brings is counted once: a copy of weights is no copy of these sums.
TEST(InitialWeightsFaults, telemetry_stays_that_of_each_worker) {
  sim::SimulationConfig config = meeting(test::plain_config());
  config.topology = Topology::parse("torus:3x3");
  config.bucket_floats = 8;
  config.slow = {{0, 3}};
  Drawn drawn(40, 1);
  sim::Simulation simulation(config, drawn);
  simulation.run_until(20);
  double told = 0, made = 0;
  for (Rank rank = 0; rank < 9; ++rank) {
    told += simulation.telemetry_z(rank)[0];
    made += static_cast<double>(simulation.steps_of(rank));
  }
  EXPECT_NEAR(told, made, 10) << "exchanges in flight aside";
}

}  // namespace
}  // namespace stencil
