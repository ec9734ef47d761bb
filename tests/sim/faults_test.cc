// All faults in one run: workers that die and come back, from a checkpoint or from nothing, workers
// that stand still, and links that are cut. Nobody stalls, and the mean over all workers moves by
// nothing but what is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/codec_cases.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr double kCalm = 20;  ///< seconds; faults are over by then, as neighbours see them
constexpr double kEnd = 26;
constexpr double kLook = 0.5;
constexpr double kSaveEvery = 2;

struct Kill {
  Rank rank = kNoRank;
  double at = 0;
  double back = 0;
  bool resumes = false;
  sim::Death how = sim::Death::kProcess;
};

struct FaultyCase {
  test::SimCase run;
  std::vector<Kill> kills;
  bool adopt = false;
};

FaultyCase faulty_case(std::uint64_t seed) {
  Random random(Random::derive(seed, 0x6661756cULL));
  const std::vector<CodecSpec> lossy = test::lossy_codecs(100'000);
  FaultyCase made;
  made.run = test::random_case(
      seed, random.below(2) == 0 ? CodecSpec() : lossy[random.below(lossy.size())]);
  sim::SimulationConfig& c = made.run.config;
  c.links.clear();
  c.slow.clear();
  c.link.latency = std::min(c.link.latency, 0.06);
  c.link.jitter = std::min(c.link.jitter, 0.06);
  c.link.bandwidth = 0;
  c.exchange.sweeps = std::clamp(*c.exchange.sweeps, 1.0, 2.0);
  c.bucket_floats = std::max<std::size_t>(c.bucket_floats, 16);
  c.exchange.suspect_after = 1;
  c.exchange.gone_after = random.below(3) == 0 ? 4 : 60;
  c.exchange.settle_deadline = 30;
  c.step_seconds = 0.1;
  c.step_jitter = std::min(c.step_jitter, 1.0);
  c.steps = static_cast<std::uint64_t>(kEnd / c.step_seconds);
  if (random.below(5) == 0) c.exchange.mode = "bounded:" + std::to_string(1 + random.below(3));
  made.adopt = random.below(3) == 0;
  c.adopt = made.adopt;
  const bool shares = random.below(4) == 0;
  const auto edges = c.topology.edges();
  for (const auto& [a, b] : edges) {
    if (shares && random.below(3) != 0) c.shared.insert({{a, b}, {b, a}});
  }
  const auto any = [&] { return static_cast<Rank>(random.below(c.topology.size())); };
  const auto at = [&] { return 1 + 12 * random.uniform(); };
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    const double from = at();
    const auto& [a, b] = edges[random.below(edges.size())];
    c.outages.push_back({a, b, from, from + std::pow(10, -3 + 3.8 * random.uniform())});
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    const double from = at();
    c.freezes.push_back({any(), from, from + std::pow(10, -2 + 2.8 * random.uniform())});
  }
  std::map<Rank, double> lives_from;  // one life after the other
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    Kill kill{.rank = any(), .at = at(), .resumes = random.below(4) != 0};
    if (!shares && random.below(2) == 0) kill.how = sim::Death::kMachine;
    // A machine that falls silent is back when its neighbours have noticed that.
    const double least = kill.how == sim::Death::kMachine ? 1.5 : 0.05;
    kill.back = kill.at + least + 5 * random.uniform();
    double& from = lives_from[kill.rank];
    if (kill.at <= from || kill.back > kCalm - 2) continue;
    from = kill.back + 1;
    made.kills.push_back(kill);
  }
  std::ranges::sort(made.kills, {}, &Kill::at);
  made.run.text += " " + c.exchange.mode + " " + c.exchange.codec + " cuts " +
                   std::to_string(c.outages.size()) + " freezes " +
                   std::to_string(c.freezes.size()) + " kills " +
                   std::to_string(made.kills.size()) + (shares ? " shared" : "") +
                   (made.adopt ? " adopting" : "");
  return made;
}

/// A run with its faults, and what they may do to the mean.
class FaultyRun {
 public:
  FaultyRun(const FaultyCase& what, sim::Objective& objective)
      : case_(what), simulation_(what.run.config, objective), saved_(simulation_.size()) {
    for (const Kill& kill : what.kills) {
      plan_.emplace(kill.at, std::pair(&kill, false));
      plan_.emplace(kill.back, std::pair(&kill, true));
    }
    mean_ = simulation_.mean();
    save();
  }

  void run() {
    for (double time = kLook; time <= kEnd; time += kLook) {
      while (!plan_.empty() && plan_.begin()->first <= time) {
        const auto [when, what] = *plan_.begin();
        plan_.erase(plan_.begin());
        simulation_.run_until(when);
        what.second ? restart(*what.first) : kill(*what.first);
      }
      simulation_.run_until(time);
      look(time);
      if (::testing::Test::HasFailure()) return;
    }
  }

  [[nodiscard]] sim::Simulation& simulation() { return simulation_; }
  [[nodiscard]] std::uint64_t lost() const {
    return lost_before_ + test::total_counters(simulation_).lost_in_flight;
  }
  [[nodiscard]] std::uint64_t compared() const { return compared_; }

 private:
  void kill(const Kill& what) { simulation_.kill(what.rank, what.how); }

  /// The mean changes at once by all that the old life had and the new one has not.
  void restart(const Kill& what) {
    lost_before_ += simulation_.status(what.rank).engine.lost_in_flight;
    const std::vector<double> before = simulation_.mean();
    simulation_.restart(what.rank, what.resumes ? &saved_[what.rank] : nullptr);
    const std::vector<double> after = simulation_.mean();
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += after[i] - before[i];
    copied_[what.rank] = {};
  }

  void save() {
    for (Rank rank = 0; rank < simulation_.size(); ++rank) {
      if (simulation_.alive(rank)) saved_[rank] = simulation_.save(rank);
    }
  }

  void look(double time) {
    if (std::fmod(time, kSaveEvery) < kLook / 2) save();
    bool adopts = false;
    for (Rank rank = 0; rank < simulation_.size(); ++rank) {
      const PumpStatus status = simulation_.status(rank);
      const Copied now{status.copied, status.adopted, status.joined};
      adopts |= now != copied_[rank];
      copied_[rank] = now;
    }
    const std::vector<double> now = simulation_.mean();
    double moved = 0;
    for (std::size_t i = 0; i < now.size(); ++i) moved += std::pow(now[i] - mean_[i], 2);
    moved = std::sqrt(moved);
    const std::uint64_t lost = this->lost();
    if (moved > 1e-4 && !adopts) {
      EXPECT_GT(lost, lost_) << "the mean moved by " << moved << " before " << time << " s";
    }
    compared_ += adopts || lost > lost_ ? 0 : 1;
    mean_ = now;
    lost_ = lost;
  }

  struct Copied {
    std::uint64_t buckets = 0, models = 0;
    bool joined = false;
    bool operator==(const Copied&) const = default;
  };

  const FaultyCase& case_;
  sim::Simulation simulation_;
  std::multimap<double, std::pair<const Kill*, bool>> plan_;
  std::vector<sim::Saved> saved_;
  std::vector<double> mean_;
  std::map<Rank, Copied> copied_;
  std::uint64_t lost_ = 0, lost_before_ = 0, compared_ = 0;
};

/// Four hundred seeds in all.
class Faults : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Faults, ::testing::Range(0, 10));

TEST_P(Faults, all_together_stall_nobody_and_move_the_mean_by_no_more_than_is_counted) {
  constexpr int kEach = 40;
  const int runs = test::runs_of(kEach);
  std::uint64_t compared = 0, lost = 0, returned = 0;
  for (int i = 0; i < runs; ++i) {
    const FaultyCase one = faulty_case(test::case_seed(20'000 + GetParam() * kEach + i));
    SCOPED_TRACE(one.run.text);
    const auto objective = sim::make_agreement(one.run.dimension, one.run.config.seed);
    FaultyRun faulty(one, *objective);
    faulty.run();
    sim::Simulation& simulation = faulty.simulation();
    if (HasFailure()) return;
    // Bounded, a step takes as long as all neighbours and the way to them take.
    const std::uint64_t few = one.run.config.exchange.mode == "async" ? 8 : 1;
    std::vector<std::uint64_t> before;
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      before.push_back(simulation.steps_of(rank));
    }
    simulation.run_until(kEnd + 3);
    for (Rank rank = 0; rank < simulation.size(); ++rank) {
      EXPECT_GE(simulation.steps_of(rank), before[rank] + few) << rank << " is stuck";
      for (const NeighbourStatus& n : simulation.status(rank).neighbours) {
        EXPECT_EQ(n.link, LinkState::kUp) << rank << " and " << n.rank;
      }
    }
    const std::uint64_t edges_begun = test::total_counters(simulation).resynchronised;
    EXPECT_TRUE(simulation.finish());
    EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    EXPECT_EQ(test::total_counters(simulation).resynchronised, edges_begun) << "a reply was lost";
    compared += faulty.compared();
    lost += faulty.lost();
    returned += test::total_counters(simulation).returned;
    if (HasFailure()) return;
  }
  if (runs < kEach) return;  // too few to tell
  EXPECT_GT(compared, 30U * kEach);
  EXPECT_GT(lost, 4U * kEach) << "the cases must meet what they are about";
  EXPECT_GT(returned, 4U * kEach);
}

/// What is sent to a worker that stands still waits for it, and so does what it was about to say.
/// Who stands still for longer than suspect_after is left out of the end.
TEST(FaultsAtTheEnd, workers_that_stand_still_while_all_settle_lose_no_reply) {
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t seed = test::case_seed(30'000 + i);
    test::SimCase one = faulty_case(seed).run;
    sim::SimulationConfig& config = one.config;
    config.outages.clear();
    config.freezes.clear();
    config.exchange.gone_after = 60;
    config.exchange.settle_deadline = 200;  // a ring with a window of one bucket takes its time
    Random random(Random::derive(seed, 0x7374616eULL));
    constexpr double kTrained = 4;
    const bool all_are_waited_for = i % 2 == 0;
    const double longest = all_are_waited_for ? 0.9 * config.exchange.suspect_after : 8;
    for (Rank rank = 0; rank < config.topology.size();
         rank += 1 + static_cast<Rank>(random.below(3))) {
      const double from = kTrained - 1 + 3 * random.uniform();
      config.freezes.push_back({rank, from, from + longest * random.uniform()});
    }
    SCOPED_TRACE(one.text);
    const auto objective = sim::make_agreement(one.dimension, config.seed);
    sim::Simulation simulation(config, *objective);
    simulation.run_until(kTrained);
    const std::uint64_t begun = test::total_counters(simulation).resynchronised;
    EXPECT_TRUE(simulation.finish());
    EXPECT_EQ(test::total_counters(simulation).resynchronised, begun) << "a reply was lost";
    EXPECT_LT(simulation.snapshot().mean_drift, 1e-4);
    if (all_are_waited_for) {
      EXPECT_LT(simulation.snapshot().consensus_distance, 1e-4);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stencil
