#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "stencil/core/topology.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

/// Where one worker is lost, and how the others exchange with it.
struct Ground {
  const char* transport;  ///< or "shared"
  const char* topology;
  int victim;
};

/// Steps are stretched, so that workers wait more than they compute; but only a little, since a
/// stop in the middle of a computation is stretched as well.
class FaultsTest : public ::testing::TestWithParam<Ground> {
 protected:
  /// A worker that a failed test has stopped would hear of nothing.
  void TearDown() override {
    if (!HasFailure()) return;
    for (const auto& [rank, pid] : pids_) kill(pid, SIGKILL);
  }

  /// Ends when each worker has taken about this many steps.
  void start(int steps, std::vector<std::string> more = {}, const std::string& slow = "50") {
    constexpr int kExamples = 512, kBatch = 32;
    const int epochs = (steps * workers_ * kBatch + kExamples - 1) / kExamples;
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "linear",
                                          "--data",
                                          "synthetic:" + std::to_string(kExamples) + ",128",
                                          "--batch",
                                          std::to_string(kBatch),
                                          "--topology",
                                          GetParam().topology,
                                          "--transport",
                                          sharing() ? "auto" : GetParam().transport,
                                          "--share-memory",
                                          sharing() ? "auto" : "never",
                                          "--epochs",
                                          std::to_string(epochs),
                                          "--out",
                                          run_.path().string(),
                                          "--threads",
                                          "1",
                                          "--lr",
                                          "0.01",
                                          "--report-every",
                                          "0.1",
                                          "--insecure",  // one is started again by hand
                                          "--quiet"};
    for (int rank = 0; rank < workers_; ++rank) {
      arguments.insert(arguments.end(), {"--slow", std::to_string(rank) + ":" + slow});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(workers_); }, kPatience))
        << program_->err();
    pids_ = worker_pids(program_->pid());
    ASSERT_EQ(pids_.size(), static_cast<std::size_t>(workers_));
  }
  [[nodiscard]] bool until(const std::function<bool()>& condition) const {
    return program_->wait_until(condition, kPatience);
  }
  [[nodiscard]] bool every_neighbour(const std::function<bool(int)>& holds) const {
    return std::all_of(neighbours_.begin(), neighbours_.end(), holds);
  }
  /// How often each neighbour of the victim has logged this event about it.
  [[nodiscard]] std::map<int, int> said(const std::string& name) const {
    std::map<int, int> counts;
    for (const int rank : neighbours_) counts[rank] = run_.events(rank, name, victim_);
    return counts;
  }
  /// Waits until each neighbour of the victim logs this event about it once more.
  [[nodiscard]] bool until_said_again(const std::string& name,
                                      const std::map<int, int>& had) const {
    return until([&] {
      return every_neighbour(
          [&](int rank) { return run_.events(rank, name, victim_) > had.at(rank); });
    });
  }
  /// From the last line of `rank`.
  [[nodiscard]] bool shares_with_victim(int rank) const {
    const auto lines = run_.history(rank).progress;
    const auto& seen = lines.back().neighbours;
    return std::any_of(seen.begin(), seen.end(),
                       [&](const auto& n) { return n.rank == victim_ && n.shared; });
  }
  [[nodiscard]] bool sharing() const { return GetParam().transport == std::string("shared"); }
  /// Models went through shared memory exactly where this test uses it.
  void expect_ended(int rank, int exit_code) const {
    const WorkerHistory history = run_.history(rank);
    ASSERT_TRUE(history.end) << rank;
    EXPECT_EQ(history.end->exit_code, exit_code) << rank << ": " << history.end->text;
    EXPECT_EQ(history.end->counters.at("shares") > 0, sharing()) << rank;
  }
  /// One worker comes and goes; the others must not be affected.
  void expect_others_ended(int exit_code = 0) const {
    for (int rank = 0; rank < workers_; ++rank) {
      if (rank != victim_) expect_ended(rank, exit_code);
    }
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
  std::map<int, pid_t> pids_;
  stencil::Topology topology_ = stencil::Topology::parse(GetParam().topology);
  int workers_ = topology_.size();
  int victim_ = GetParam().victim;
  std::span<const stencil::Rank> neighbours_ = topology_.neighbours(victim_);
};

// Fewer over tcp, to save time: there too the victim has several neighbours, and a worker is none.
INSTANTIATE_TEST_SUITE_P(Transports, FaultsTest,
                         ::testing::Values(Ground{"shared", "torus:3x3", 4},
                                           Ground{"zmq", "torus:2x2", 3},
                                           Ground{"tcp", "torus:2x2", 3}),
                         [](const auto& info) { return std::string(info.param.transport); });

TEST_P(FaultsTest, OneIsKilledAndTheOthersFinish) {
  start(128, {"--suspect-after", "0.5", "--gone-after", "1"});
  kill(pids_.at(victim_), SIGKILL);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("worker " + std::to_string(victim_) + " was ended by SIGKILL"));
  expect_others_ended();
  const nlohmann::json summary = run_.summary();
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json({victim_}));
  EXPECT_EQ(summary["exit_codes"][victim_], 128 + SIGKILL);
  for (const int rank : neighbours_) {
    EXPECT_GE(run_.events(rank, "suspect", victim_) + run_.events(rank, "gone", victim_), 1)
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

TEST_P(FaultsTest, OneIsKilledAndComesBackAsNearAsTheOthersStand) {
  // The run continues until all has been seen, and then ends in good order.
  start(1000000, {"--warmup", "0", "--suspect-after", "1", "--gone-after", "60"}, "100");
  const auto suspected = said("suspect"), up = said("up");
  kill(pids_.at(victim_), SIGKILL);
  ASSERT_TRUE(until_said_again("suspect", suspected)) << "the neighbours have not noticed";
  std::map<int, std::size_t> lines_before;
  for (const int rank : neighbours_) lines_before[rank] = run_.history(rank).progress.size();

  Program again(FAST_WORKER, {"--config", (run_.path() / "config.toml").string(), "--rank",
                              std::to_string(victim_), "--run-id", run_.run_id(), "--listen",
                              "tcp://127.0.0.1:0", "--peer-template",
                              "file:" + (run_.path() / "worker-{rank}" / "endpoint").string()});
  const auto second_life = [&] {
    WorkerHistory history = run_.history(victim_);
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
                                   [](const auto& event) { return event.event == "joined"; });
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
  // Its neighbours accept it again.
  ASSERT_TRUE(until_said_again("up", up)) << "the neighbours do not take it back";
  ASSERT_TRUE(until([&] {
    return every_neighbour([&](int rank) { return shares_with_victim(rank) == sharing(); });
  })) << "not in the way that they exchanged before";
  std::vector<int> all(static_cast<std::size_t>(workers_));
  std::iota(all.begin(), all.end(), 0);
  ASSERT_TRUE(run_.all_go_on(*program_, all)) << program_->err();
  again.signal(SIGTERM);
  program_->signal(SIGTERM);
  EXPECT_EQ(again.wait(kPatience).code, 130) << again.err();
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_others_ended(130);
  expect_ended(victim_, 130);
  EXPECT_EQ(run_.summary()["restarted_ranks"], nlohmann::json({victim_}));
  // After an interruption models are as they were: the mean distance from the mean model is less
  // than a worker's distance from its neighbours, unless one worker is far from the others.
  double seen = 0;
  for (const int rank : neighbours_) {
    seen = std::max(seen, run_.history(rank).progress.back().consensus_distance);
  }
  EXPECT_LT(run_.summary()["consensus_distance"], seen);
}

TEST_P(FaultsTest, OneIsStoppedForAWhileAndIsSuspectUntilItGoesOn) {
  start(1000000, {"--warmup", "0", "--suspect-after", "0.5", "--gone-after", "60"});
  const auto suspected = said("suspect"), up = said("up");
  kill(pids_.at(victim_), SIGSTOP);
  const bool noticed = until_said_again("suspect", suspected);
  kill(pids_.at(victim_), SIGCONT);
  ASSERT_TRUE(noticed) << "the neighbours have not noticed";
  ASSERT_TRUE(until_said_again("up", up)) << "the neighbours do not take it back";
  program_->signal(SIGTERM);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_others_ended(130);
  expect_ended(victim_, 130);
  EXPECT_EQ(run_.summary()["lost_ranks"], nlohmann::json::array());
  for (const int rank : neighbours_) EXPECT_EQ(run_.events(rank, "gone", victim_), 0) << rank;
}

/// For much longer than suspect_after, and then for longer than gone_after.
TEST_P(FaultsTest, OneThatStandsStillForLongIsBackByItselfWithoutFlapping) {
  start(1000000, {"--warmup", "0", "--suspect-after", "1", "--gone-after", "3"});
  for (const std::string until : {"suspect", "gone"}) {
    const auto suspected = said("suspect"), ended = said(until), up = said("up");
    kill(pids_.at(victim_), SIGSTOP);
    const bool noticed = until_said_again(until, ended);
    std::vector<int> others;
    for (int rank = 0; rank < workers_; ++rank) {
      if (rank != victim_) others.push_back(rank);
    }
    const bool go_on = run_.all_go_on(*program_, others);
    kill(pids_.at(victim_), SIGCONT);
    ASSERT_TRUE(noticed) << "the neighbours have not noticed";
    ASSERT_TRUE(go_on) << "it holds up the others";
    ASSERT_TRUE(until_said_again("up", up)) << "the neighbours do not take it back";
    ASSERT_TRUE(run_.all_go_on(*program_, {victim_})) << program_->err();
    for (const auto& [rank, had] : suspected) {
      EXPECT_EQ(run_.events(rank, "suspect", victim_), had + 1) << rank;
      EXPECT_EQ(run_.events(rank, "up", victim_), up.at(rank) + 1) << rank;
    }
  }
  program_->signal(SIGTERM);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_others_ended(130);
  expect_ended(victim_, 130);
}

}  // namespace
}  // namespace fast::testing
