// What real workers send and receive where the user bounds it: --max-rate and --data-cap.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fast/checkpoint/checkpoint.h"
#include "fast/run/run_folder.h"
#include "stencil/runtime/pacer.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

constexpr std::uint64_t kCap = 20'000'000, kFar = kCap / 10, kNear = kCap / 20;
constexpr const char* kRests = "trains alone for a while, and neighbours show it as paused";
constexpr std::uint64_t kModel = (3072 * 10 + 10) * sizeof(float);  ///< "linear"

class DataBoundsTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// `fast train` on ring:3, over sockets of ports that the system chooses.
  void start(const Arguments& more) {
    Arguments arguments = {"train",
                           "--model",
                           "linear",
                           "--data",
                           "synthetic:512,128",
                           "--topology",
                           "ring:3",
                           "--transport",
                           GetParam(),
                           "--share-memory",
                           "never",
                           "--out",
                           run_.path().string(),
                           "--threads",
                           "1",
                           "--lr",
                           "0.01",
                           "--report-every",
                           "0.1",
                           "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    begin(arguments);
  }
  void begin(const Arguments& arguments) {
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
  }
  [[nodiscard]] bool until_all(const std::function<bool(int)>& holds) const {
    return program_->wait_until([&] { return holds(0) && holds(1) && holds(2); }, kPatience);
  }
  [[nodiscard]] int said(int rank, const std::string& words) const {
    const std::string log = run_.log(rank);
    int times = 0;
    for (auto at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) ++times;
    return times;
  }
  /// Whoever of two has left the other.
  [[nodiscard]] bool sees_all_paused(int rank) const {
    const auto lines = run_.history(rank).progress;
    return !lines.empty() && std::ranges::all_of(lines.back().neighbours,
                                                 [](const auto& n) { return n.link == "paused"; });
  }
  /// What is used of the allowance, as the newest checkpoint of `rank` has it; 0: there is none.
  [[nodiscard]] std::uint64_t saved_bytes(int rank) const {
    const auto file = Checkpoint::newest(RunFolder(run_.path()).checkpoint(rank),
                                         [](stencil::LogLevel, std::string_view) {});
    if (!file || !file->state().has("session/data_bytes")) return 0;
    return file->state().value<std::uint64_t>("session/data_bytes");
  }
  [[nodiscard]] std::uint64_t counted(int rank, const std::string& name) const {
    const auto end = run_.history(rank).end;
    return end ? end->counters.at(name) : 0;
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
};

INSTANTIATE_TEST_SUITE_P(Transports, DataBoundsTest, ::testing::Values("zmq", "tcp"),
                         [](const auto& info) { return info.param; });

/// By the times and the bytes of its own metrics. Half a second of the rate is a model.
TEST_P(DataBoundsTest, nobody_sends_more_than_the_rate_at_any_time_and_all_agree) {
  constexpr double kRate = 250'000;
  start({"--max-rate", "2Mbit/s", "--epochs", "600", "--settle-deadline", "120"});
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.err;
  for (int rank = 0; rank < 3; ++rank) {
    const WorkerHistory history = run_.history(rank);
    ASSERT_TRUE(history.end) << run_.log(rank);
    EXPECT_EQ(history.end->exit_code, 0) << history.end->text;
    const auto most = [](double seconds) {
      return kRate * (seconds + stencil::Pacer::kBurst) + kModel;
    };
    for (const WorkerProgress& line : history.progress) {
      std::uint64_t bytes = 0;
      for (const NeighbourProgress& neighbour : line.neighbours) bytes += neighbour.bytes;
      EXPECT_LE(static_cast<double>(bytes), most(line.time)) << rank << " at " << line.time;
    }
    EXPECT_LE(static_cast<double>(counted(rank, "bytes_sent")), most(history.end->time));
    for (const NeighbourProgress& neighbour : history.progress.back().neighbours) {
      EXPECT_GT(neighbour.sweeps, 0U) << rank << " with " << neighbour.rank;
    }
  }
}

/// Far ahead, by a tenth of the allowance, is after some models, and a rest then lasts a quarter of
/// an hour at least. One whose neighbours all rest before it need not.
TEST_P(DataBoundsTest, whoever_is_far_ahead_rests_and_knows_after_a_restart_what_it_has_used) {
  start({"--data-cap", "20MB/day", "--epochs", "1000000", "--checkpoint-every", "0.2"});
  ASSERT_TRUE(until_all([&](int rank) { return sees_all_paused(rank); })) << run_.log(0);
  std::vector<int> resting;
  for (int rank = 0; rank < 3; ++rank) {
    if (said(rank, kRests) > 0) resting.push_back(rank);
  }
  ASSERT_GE(resting.size(), 2U) << "a grid of three is apart";
  ASSERT_TRUE(until_all([&](int rank) { return saved_bytes(rank) >= kNear; }));
  EXPECT_TRUE(run_.all_go_on(*program_, {0, 1, 2})) << "alone";
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(kPatience).code, 130);
  std::vector<std::uint64_t> used;
  for (int rank = 0; rank < 3; ++rank) {
    used.push_back(saved_bytes(rank));
    EXPECT_LE(used.back(), kCap / 5) << rank << ": what was under way is little";
    EXPECT_GE(counted(rank, "data_used"), used.back());
    EXPECT_LE(counted(rank, "data_used"),
              counted(rank, "bytes_sent") + counted(rank, "bytes_received"));
  }
  for (const int rank : resting) {
    EXPECT_GE(used[rank], kFar) << rank;
    EXPECT_THAT(run_.log(rank), HasSubstr("--data-cap 20MB/day: 2"));
    EXPECT_EQ(counted(rank, "data_rests"), 1U);
  }
  begin({"train", "--resume", run_.path().string()});
  EXPECT_TRUE(until_all([&](int rank) {
    const WorkerHistory history = run_.history(rank);
    return history.lives.size() == 2 &&
           history.progress.size() > history.lives[1].first_progress + 1;
  })) << "they train on";
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait(kPatience).code, 130);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_GE(counted(rank, "data_used"), used[rank]) << rank;
    EXPECT_GE(saved_bytes(rank), used[rank]);
    const std::string log = run_.log(rank);
    EXPECT_THAT(log.substr(log.rfind("goes on from step")), Not(HasSubstr("were asked for")))
        << "sweeps are rarer on purpose";
  }
  for (const int rank : resting) {
    EXPECT_EQ(said(rank, kRests), 2) << "at once";
    EXPECT_LE(counted(rank, "data_used"), used[rank] + kCap / 50) << "greetings, and little else";
  }
}

TEST_P(DataBoundsTest, at_rest_at_the_end_a_worker_names_the_allowance_and_keeps_its_model) {
  start({"--data-cap", "20MB/day", "--epochs", "600"});
  EXPECT_EQ(program_->wait(kPatience).code, 8);
  int resting = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto end = run_.history(rank).end;
    ASSERT_TRUE(end) << run_.log(rank);
    EXPECT_EQ(end->exit_code, 8);
    if (said(rank, kRests) > 0) {
      ++resting;
      EXPECT_THAT(end->text, HasSubstr("to keep within --data-cap 20MB/day"));
    } else {
      EXPECT_THAT(end->text, HasSubstr("its neighbours have paused"));
    }
    EXPECT_TRUE(std::filesystem::exists(RunFolder(run_.path()).worker_model(rank)));
    EXPECT_GE(saved_bytes(rank), kNear);
  }
  EXPECT_GE(resting, 2);
}

}  // namespace
}  // namespace fast::testing
