// fast train --restarts: workers that die are started again by the launcher.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RestartsTest : public ::testing::Test {
 protected:
  /// Starts a run that lasts some seconds, and waits until all of its workers train.
  void start(int workers, const std::string& topology, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "linear",
                                          "--data",
                                          "synthetic:512,128",
                                          "--topology",
                                          topology,
                                          "--epochs",
                                          "900",
                                          "--out",
                                          run_.path().string(),
                                          "--threads",
                                          "1",
                                          "--lr",
                                          "0.01",
                                          "--report-every",
                                          "0.1",
                                          "--checkpoint-every",
                                          "0.1",
                                          "--suspect-after",
                                          "0.5",
                                          "--gone-after",
                                          "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(workers); }, kPatience))
        << program_->err();
  }
  /// Kills the present process of `rank` and returns its id.
  pid_t kill_worker(int rank) const {
    const pid_t worker = worker_pids(program_->pid()).at(rank);
    kill(worker, SIGKILL);
    return worker;
  }
  /// Waits until `rank` has begun life number `life`, from 1, and trains.
  [[nodiscard]] bool lives(int rank, std::size_t life) const {
    return program_->wait_until(
        [&] {
          const WorkerHistory history = run_.history(rank);
          return history.lives.size() >= life &&
                 history.progress.size() > history.lives[life - 1].first_progress;
        },
        kPatience);
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
};

TEST_F(RestartsTest, AWorkerThatIsKilledComesBackAndTheRunEndsWell) {
  start(4, "torus:2x2", {"--restarts", "2"});
  ASSERT_TRUE(program_->wait_until(
      [&] { return std::filesystem::exists(run_.path() / "worker-2" / "checkpoint.safetensors"); },
      kPatience));
  kill_worker(2);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("worker 2 was ended by SIGKILL"),
                    HasSubstr("worker 2 started again (1 of 2)"), HasSubstr("2 (once)")));
  const WorkerHistory history = run_.history(2);
  EXPECT_EQ(history.lives.size(), 2U);
  EXPECT_THAT(run_.log(2), HasSubstr("goes on from step ")) << "from its checkpoint";
  const nlohmann::json summary = run_.summary();
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json::array());
  EXPECT_EQ(summary["restarted_ranks"], nlohmann::json({2}));
  EXPECT_EQ(summary["restarts"], nlohmann::json({0, 0, 1, 0}));
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0, 0, 0}));
  EXPECT_TRUE(summary["test_accuracy"]["workers"][2].is_number());
  EXPECT_LT(summary["consensus_distance"], 0.05);
}

TEST_F(RestartsTest, AWorkerThatDiesOnceTooOftenIsLostAndNamed) {
  start(4, "torus:2x2", {"--restarts", "1", "--gone-after", "1"});
  kill_worker(1);
  ASSERT_TRUE(lives(1, 2)) << program_->out() << program_->err();
  kill_worker(1);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("worker 1 was ended by SIGKILL; it has been started again "
                                    "once, which is all that was allowed"));
  const nlohmann::json summary = run_.summary();
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json({1}));
  EXPECT_EQ(summary["restarts"], nlohmann::json({0, 1, 0, 0}));
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 137, 0, 0}));
}

TEST_F(RestartsTest, AWorkerComesBackWithItsKeyToo) {
  const std::string keys = (folder_.path() / "keys").string();
  ASSERT_EQ(run_program(FAST_PROGRAM, {"keys", "--out", keys, "--workers", "2"}).code, 0);
  start(2, "ring:2", {"--restarts", "1", "--keys", keys, "--share-memory", "never"});
  kill_worker(0);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(run_.history(0).lives.size(), 2U);
  EXPECT_EQ(run_.summary()["islands"], nlohmann::json::array());
}

TEST_F(RestartsTest, AStoppedRunStartsNobodyAgain) {
  start(2, "ring:2", {"--restarts", "100", "--epochs", "100000"});
  program_->signal(SIGINT);
  ASSERT_TRUE(program_->wait_until(
      [&] { return program_->out().find("SIGINT: asking 2 workers") != std::string::npos; },
      kPatience));
  for (const pid_t worker : children_of(program_->pid())) kill(worker, SIGKILL);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  EXPECT_THAT(result.out, ::testing::Not(HasSubstr("started again")));
}

TEST_F(RestartsTest, ABoundedRunTakesAWorkerBack) {
  start(3, "ring:3", {"--restarts", "1", "--mode", "bounded:3"});
  kill_worker(0);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(run_.history(0).lives.size(), 2U);
}

}  // namespace
}  // namespace fast::testing
