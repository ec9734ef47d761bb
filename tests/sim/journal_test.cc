// An engine is a function of its inputs: what a Journal recorded is decided again by replay().
#include "stencil/runtime/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stencil/engine/engine.h"
#include "stencil/runtime/replay.h"
#include "stencil/sim/simulator.h"

namespace stencil {
namespace {

using sim::Simulation;
using sim::SimulationConfig;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;

constexpr std::size_t kDimension = 60;

SimulationConfig grid(const std::string& topology) {
  SimulationConfig config;
  config.topology = Topology::parse(topology);
  config.bucket_floats = 20;
  config.steps = 30;
  config.step_jitter = 0.2;
  config.link.latency = 0.005;
  return config;
}

/// A simulation whose workers are all recorded.
class Recorded {
 public:
  explicit Recorded(SimulationConfig config, Journal::Keep keep = {})
      : keep_(keep),
        // For a worker more, which a test may add.
        objective_(
            sim::make_objective("quadratic", config.topology.size() + 1, kDimension, 0.1, 1, 1)),
        simulation_(watched(std::move(config)), *objective_) {}
  Simulation* operator->() { return &simulation_; }

  /// Plays each recording again; the workers that decided otherwise, and why.
  std::vector<std::string> differ() {
    std::vector<std::string> found;
    for (const auto& [rank, journal] : journals_) {
      Result<Replay> replayed = replay(journal.file(), [](const Replayed&) {});
      const std::string who = "worker " + std::to_string(rank);
      if (!replayed) {
        found.push_back(who + ": " + replayed.error().text);
      } else if (replayed->other > 0 || replayed->cut || replayed->rank != rank ||
                 replayed->inputs != journal.inputs()) {
        found.push_back(who + " decides otherwise on input " + std::to_string(replayed->other));
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<std::uint64_t> inputs() const {
    std::vector<std::uint64_t> counts;
    for (const auto& [rank, journal] : journals_) counts.push_back(journal.inputs());
    return counts;
  }
  Journal& of(Rank rank) { return journals_.try_emplace(rank, keep_).first->second; }

 private:
  SimulationConfig watched(SimulationConfig config) {
    config.witness = [this](Rank rank) { return &of(rank); };
    return config;
  }

  Journal::Keep keep_;
  std::map<Rank, Journal> journals_;
  std::unique_ptr<sim::Objective> objective_;
  Simulation simulation_;
};

TEST(Journals, a_run_played_again_is_decided_as_it_was) {
  Recorded run(grid("torus:3x3"));
  run->run_until(run->end_time());
  EXPECT_THAT(run.differ(), testing::IsEmpty());
  EXPECT_THAT(run.inputs(), Each(Gt(100U)));
}

TEST(Journals, so_is_one_with_deaths_returns_outages_and_an_end) {
  SimulationConfig config = grid("ring:8");
  config.finish = true;
  config.exchange.suspect_after = 0.3;
  config.exchange.gone_after = 1;
  config.outages = {{.a = 2, .b = 3, .from = 0.5, .to = 1.2}};
  Recorded run(config);
  run->run_until(0.8);
  run->kill(5);
  run->run_until(1.6);
  run->restart(5);
  run->run_until(run->end_time());
  EXPECT_TRUE(run->finish());
  EXPECT_THAT(run.differ(), testing::IsEmpty());
}

TEST(Journals, so_is_one_in_lock_step_one_bounded_and_one_of_little_credit) {
  for (const std::string mode : {"sync", "bounded:2", "async"}) {
    SCOPED_TRACE(mode);
    SimulationConfig config = grid("ring:6");
    config.exchange.mode = mode;
    if (mode == "async") config.exchange.sweeps = 0.5;
    config.slow = {{1, 2.5}};
    Recorded run(config);
    run->run_until(run->end_time());
    EXPECT_THAT(run.differ(), testing::IsEmpty());
    EXPECT_THAT(run.inputs(), Each(Gt(20U)));
  }
}

TEST(Journals, so_is_one_in_shared_memory_and_on_a_grid_that_changes) {
  SimulationConfig config = grid("ring:4");
  config.shared = {{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  Recorded run(config);
  run->run_until(1);
  EXPECT_EQ(run->add({0, 2}), 4);
  run->run_until(2);
  run->remove(3);
  run->run_until(run->end_time());
  EXPECT_THAT(run.differ(), testing::IsEmpty());
}

/// Leaves out the first boundary.
class Forgetful final : public Witness {
 public:
  explicit Forgetful(Journal& journal) : journal_(journal) {}
  void began(TimePoint now, const Engine& engine) override { journal_.began(now, engine); }
  void saw(TimePoint now, const Input& input, std::span<const Action> decided) override {
    const bool boundary = std::holds_alternative<input::Boundary>(input);
    if (boundary && !std::exchange(forgot_, true)) return;
    journal_.saw(now, input, decided);
  }

 private:
  Journal& journal_;
  bool forgot_ = false;
};

TEST(Journals, an_engine_that_decides_otherwise_is_found_out) {
  Journal journal;
  Forgetful forgetful(journal);
  SimulationConfig config = grid("ring:4");
  config.witness = [&](Rank rank) { return rank == 0 ? &forgetful : nullptr; };
  const auto objective = sim::make_objective("quadratic", 4, kDimension, 0.1, 1, 1);
  Simulation simulation(config, *objective);
  simulation.run_until(1);
  std::uint64_t first = 0;
  Result<Replay> replayed = replay(journal.file(), [&](const Replayed& input) {
    if (!input.same && first == 0) first = input.number;
  });
  ASSERT_TRUE(replayed) << replayed.error().text;
  EXPECT_EQ(replayed->other, first);
  EXPECT_GT(first, 1U) << "until the boundary all is as it was";
  EXPECT_EQ(replayed->inputs, first) << "what follows was seen by an engine in another state";
}

TEST(Journals, what_is_told_names_inputs_and_decisions) {
  Recorded run(grid("ring:4"));
  run->run_until(1);
  std::string told;
  Result<Replay> replayed = replay(run.of(0).file(), [&](const Replayed& input) {
    told += std::to_string(edge_of(input.input)) + " " + in_words(input.input) + "\n";
    for (const Action& action : input.decided) {
      told += "  " + std::to_string(edge_of(action)) + " " + in_words(action) + "\n";
    }
  });
  ASSERT_TRUE(replayed);
  EXPECT_THAT(told, AllOf(HasSubstr("1 has a link"), HasSubstr("3 hears hello of generation"),
                          HasSubstr("-1 passes boundary 1"), HasSubstr("  1 make offer 1 of"),
                          HasSubstr("1 offer 1 is made"), HasSubstr("  1 send offer 1 of bucket"),
                          HasSubstr("complete our offer")));
}

/// The recordings of a run that keep little, whose beginnings are states in the middle of it.
std::vector<std::string> differ_from_the_middle(SimulationConfig config, Journal::Keep keep,
                                                const std::function<void(Simulation&)>& steer) {
  Recorded run(std::move(config), keep);
  steer(*run.operator->());
  EXPECT_FALSE(run.of(0).whole());
  return run.differ();
}

TEST(Journals, one_of_the_last_moments_begins_with_the_state_of_its_engine) {
  for (const std::string mode : {"async", "sync", "bounded:2"}) {
    for (const int milliseconds : {1, 30, 170}) {
      SCOPED_TRACE(mode + ", " + std::to_string(milliseconds) + " ms");
      SimulationConfig config = grid("torus:3x3");
      config.exchange.mode = mode;
      config.slow = {{1, 2.5}};
      EXPECT_THAT(differ_from_the_middle(config, {.time = std::chrono::milliseconds(milliseconds)},
                                         [](Simulation& run) { run.run_until(2.5); }),
                  testing::IsEmpty());
    }
  }
}

TEST(Journals, so_does_one_of_a_run_with_deaths_returns_changes_and_shared_memory) {
  for (const int milliseconds : {1, 40, 150}) {
    SCOPED_TRACE(std::to_string(milliseconds) + " ms");
    SimulationConfig config = grid("ring:6");
    config.finish = true;
    config.shared = {{0, 1}, {1, 0}};
    config.exchange.suspect_after = 0.3;
    config.exchange.gone_after = 1;
    config.outages = {{.a = 2, .b = 3, .from = 0.5, .to = 1.2}};
    EXPECT_THAT(differ_from_the_middle(config, {.time = std::chrono::milliseconds(milliseconds)},
                                       [](Simulation& run) {
                                         run.run_until(0.8);
                                         run.kill(5);
                                         run.run_until(1.6);
                                         run.restart(5);
                                         run.run_until(2);
                                         EXPECT_EQ(run.add({0, 2}), 6);
                                         run.run_until(run.end_time());
                                         (void)run.finish();
                                       }),
                testing::IsEmpty());
  }
}

TEST(Journals, one_that_is_full_keeps_its_end) {
  Journal journal({.bytes = 20'000});
  SimulationConfig config = grid("ring:4");
  config.witness = [&](Rank rank) { return rank == 0 ? &journal : nullptr; };
  const auto objective = sim::make_objective("quadratic", 4, kDimension, 0.1, 1, 1);
  Simulation simulation(config, *objective);
  simulation.run_until(3);
  EXPECT_FALSE(journal.whole());
  EXPECT_LE(journal.file().size(), 20'000U + 4000) << "and the state at its beginning";
  Duration last{};
  Result<Replay> replayed = replay(journal.file(), [&](const Replayed& input) { last = input.at; });
  ASSERT_TRUE(replayed) << replayed.error().text;
  EXPECT_EQ(replayed->other, 0U);
  EXPECT_EQ(replayed->inputs, journal.inputs());
  EXPECT_GT(last, std::chrono::milliseconds(2500));
}

TEST(Journals, a_file_that_is_cut_off_counts_to_its_last_record) {
  Recorded run(grid("ring:4"));
  run->run_until(1);
  Bytes bytes = run.of(0).file();
  bytes.pop_back();
  Result<Replay> replayed = replay(bytes, [](const Replayed&) {});
  ASSERT_TRUE(replayed) << replayed.error().text;
  EXPECT_TRUE(replayed->cut);
  EXPECT_EQ(replayed->inputs + 1, run.of(0).inputs());
}

TEST(Journals, an_invariant_that_failed_fails_again_on_the_same_input) {
  Journal journal;
  Neighbours neighbours;
  Engine engine({}, neighbours, TimePoint{});
  engine.show(TimePoint{}, journal);
  Actions out;
  engine.on_boundary(TimePoint{}, 1, out);
  EXPECT_THROW(engine.remove(TimePoint{}, 9, out), InvariantError);
  Result<Replay> replayed = replay(journal.file(), [](const Replayed&) {});
  ASSERT_TRUE(replayed) << replayed.error().text;
  EXPECT_EQ(replayed->failure, "Neighbours::at(9)");
  EXPECT_EQ(replayed->inputs, 2U);
  EXPECT_EQ(replayed->other, 0U);
}

TEST(Journals, what_is_no_journal_is_an_error) {
  const auto error = [](const Bytes& bytes) {
    Result<Replay> replayed = replay(bytes, [](const Replayed&) {});
    return replayed ? std::string("none") : replayed.error().text;
  };
  EXPECT_THAT(error({}), HasSubstr("does not begin with FASTJRN2"));
  Recorded run(grid("ring:4"));
  run->run_until(1);
  const Bytes good = run.of(0).file();
  EXPECT_EQ(error(good), "none");
  EXPECT_THAT(error(Bytes(good.begin(), good.begin() + 60)), HasSubstr("configuration"));
  const Bytes fresh = [] {
    Journal journal;
    Neighbours neighbours;
    Engine engine({}, neighbours, TimePoint{});
    engine.show(TimePoint{}, journal);
    return journal.file();
  }();
  EXPECT_EQ(error(fresh), "none");
  Bytes damaged = fresh;
  damaged[damaged.size() - 9] ^= std::byte{1};
  EXPECT_THAT(error(damaged), HasSubstr("state is damaged"));
  Bytes of_another = good;
  of_another[8] ^= std::byte{1};  // the rank, in the configuration
  EXPECT_THAT(error(of_another), HasSubstr("configuration or state is damaged"));
  Bytes other = good;
  other.back() ^= std::byte{1};
  EXPECT_EQ(error(other), "none") << "another hash is another decision, no fault of the file";
}

}  // namespace
}  // namespace stencil
