#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "stencil/core/topology.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kWorkers = 9;
constexpr int kVictim = 4;

/// Nine workers on a 3x3 torus; steps are stretched, so that they wait more than they compute.
class FaultsTest : public ::testing::Test {
 protected:
  void start(const std::string& epochs, std::vector<std::string> more = {},
             const std::string& slow = "200") {
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "linear",
                                          "--data",
                                          "synthetic:512,128",
                                          "--topology",
                                          "torus:3x3",
                                          "--epochs",
                                          epochs,
                                          "--out",
                                          run_.path().string(),
                                          "--threads",
                                          "1",
                                          "--lr",
                                          "0.01",
                                          "--report-every",
                                          "0.1",
                                          "--settle-deadline",
                                          "10",
                                          "--quiet"};
    for (int rank = 0; rank < kWorkers; ++rank) {
      arguments.insert(arguments.end(), {"--slow", std::to_string(rank) + ":" + slow});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(kWorkers); }, kPatience))
        << program_->err();
    pids_ = worker_pids(program_->pid());
    ASSERT_EQ(pids_.size(), static_cast<std::size_t>(kWorkers));
  }
  [[nodiscard]] bool until(const std::function<bool()>& condition) const {
    return program_->wait_until(condition, kPatience);
  }
  [[nodiscard]] bool every_neighbour(const std::function<bool(int)>& holds) const {
    return std::all_of(neighbours_.begin(), neighbours_.end(), holds);
  }
  /// One of nine comes and goes, the eight others may not even cough.
  void expect_others_ended(int exit_code = 0) const {
    for (int rank = 0; rank < kWorkers; ++rank) {
      if (rank == kVictim) continue;
      const WorkerHistory history = run_.history(rank);
      ASSERT_TRUE(history.end) << rank;
      EXPECT_EQ(history.end->exit_code, exit_code) << rank << ": " << history.end->text;
      EXPECT_GT(history.end->counters.at("shares"), 0U) << rank << " shared no memory";
    }
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
  std::map<int, pid_t> pids_;
  std::vector<stencil::Rank> neighbours_ = [] {
    const auto topology = stencil::Topology::parse("torus:3x3");
    const auto span = topology.neighbours(kVictim);
    return std::vector<stencil::Rank>(span.begin(), span.end());
  }();
};

TEST_F(FaultsTest, OneOfNineIsKilledAndTheOthersFinish) {
  start("40", {"--suspect-after", "0.5", "--gone-after", "1"});
  kill(pids_[kVictim], SIGKILL);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("worker 4 was ended by SIGKILL"));
  expect_others_ended();
  const nlohmann::json summary = run_.summary();
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json({kVictim}));
  EXPECT_EQ(summary["exit_codes"][kVictim], 128 + SIGKILL);
  for (const int rank : neighbours_) {
    EXPECT_GE(run_.events(rank, "suspect", kVictim) + run_.events(rank, "gone", kVictim), 1)
        << rank;
  }
}

/// The largest decayed loss of `rank` from the `from`th progress line on.
double largest_loss(const WorkerHistory& history, std::size_t from) {
  double loss = 0;
  for (std::size_t i = from; i < history.progress.size(); ++i) {
    if (history.progress[i].step > 0) loss = std::max(loss, history.progress[i].loss);
  }
  return loss;
}

TEST_F(FaultsTest, OneOfNineIsKilledAndComesBackAsNearAsTheOthersStand) {
  // It goes on until all has been seen, and then ends in good order.
  start("100000", {"--warmup", "0", "--suspect-after", "1", "--gone-after", "60"}, "100");
  kill(pids_[kVictim], SIGKILL);
  ASSERT_TRUE(until([&] {
    return every_neighbour([&](int rank) { return run_.events(rank, "suspect", kVictim) > 0; });
  })) << "the neighbours have not noticed";
  std::map<int, std::size_t> lines_before;
  for (const int rank : neighbours_) lines_before[rank] = run_.history(rank).progress.size();

  Program again(FAST_WORKER, {"--config", (run_.path() / "config.toml").string(), "--rank",
                              std::to_string(kVictim), "--run-id", run_.run_id(), "--listen",
                              "tcp://127.0.0.1:0", "--peer-template",
                              "file:" + (run_.path() / "worker-{rank}" / "endpoint").string()});
  const auto second_life = [&] {
    WorkerHistory history = run_.history(kVictim);
    const std::size_t first =
        history.lives.size() < 2 ? history.progress.size() : history.lives[1].first_progress;
    history.progress.erase(history.progress.begin(),
                           history.progress.begin() + static_cast<std::ptrdiff_t>(first));
    return history;
  };
  ASSERT_TRUE(again.wait_until(
      [&] {
        const WorkerHistory life = second_life();
        return !life.progress.empty() && life.progress.back().step > 50;
      },
      kPatience))
      << again.err();
  const WorkerHistory life = second_life();
  const auto joined = std::find_if(life.events.begin(), life.events.end(),
                                   [](const auto& event) { return event.name == "joined"; });
  ASSERT_NE(joined, life.events.end()) << "it says of nobody's model that it took it over";
  EXPECT_THAT(joined->text, HasSubstr("took over the model of worker "));

  double nearest = 1e300;
  for (const WorkerProgress& p : life.progress) {
    if (p.step <= 50 && p.consensus_distance > 0) nearest = std::min(nearest, p.consensus_distance);
  }
  double others = 0;
  int lines = 0;
  for (const int rank : neighbours_) {
    const WorkerHistory history = run_.history(rank);
    for (std::size_t i = lines_before[rank]; i < history.progress.size(); ++i) {
      others += (history.progress[i].consensus_distance - others) / ++lines;
    }
  }
  EXPECT_LT(nearest, 2 * others) << "it stands apart within 50 steps";
  for (const int rank : neighbours_) {
    const WorkerHistory history = run_.history(rank);
    WorkerHistory before = history;
    before.progress.resize(lines_before[rank]);
    EXPECT_LE(largest_loss(history, lines_before[rank]), 1.5 * largest_loss(before, 0) + 0.1)
        << "the loss of worker " << rank << " jumped";
  }
  // Its neighbours take it for one of them again.
  ASSERT_TRUE(until([&] {
    return every_neighbour([&](int rank) { return run_.events(rank, "up", kVictim) >= 1; });
  })) << "the neighbours do not take it back";
  ASSERT_TRUE(run_.all_go_on(*program_, {0, 1, 2, 3, 4, 5, 6, 7, 8})) << program_->err();
  again.signal(SIGTERM);
  program_->signal(SIGTERM);
  EXPECT_EQ(again.wait(kPatience).code, 130) << again.err();
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_others_ended(130);
  EXPECT_EQ(run_.summary()["restarted_ranks"], nlohmann::json({kVictim}));
  // Interrupted, they stand as they stood: the mean distance from the mean model is less than what
  // a worker sees of its neighbours, unless one of nine stands apart.
  double seen = 0;
  for (const int rank : neighbours_) {
    seen = std::max(seen, run_.history(rank).progress.back().consensus_distance);
  }
  EXPECT_LT(run_.summary()["consensus_distance"], seen);
}

TEST_F(FaultsTest, OneOfNineIsStoppedForAWhileAndIsSuspectUntilItGoesOn) {
  start("80", {"--suspect-after", "1", "--gone-after", "60"});
  kill(pids_[kVictim], SIGSTOP);
  const bool suspected = until([&] {
    return every_neighbour([&](int rank) { return run_.events(rank, "suspect", kVictim) > 0; });
  });
  kill(pids_[kVictim], SIGCONT);
  ASSERT_TRUE(suspected) << "the neighbours have not noticed";
  ASSERT_TRUE(until([&] {
    return every_neighbour([&](int rank) { return run_.events(rank, "up", kVictim) > 0; });
  })) << "the neighbours do not take it back";
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  expect_others_ended();
  EXPECT_EQ(run_.history(kVictim).end->exit_code, 0);
  EXPECT_EQ(run_.summary()["lost_ranks"], nlohmann::json::array());
  for (const int rank : neighbours_) EXPECT_EQ(run_.events(rank, "gone", kVictim), 0) << rank;
}

}  // namespace
}  // namespace fast::testing
