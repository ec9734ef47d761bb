// Workers that pause and come back.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fast/run/run_folder.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

class PausesTest : public ::testing::Test {
 protected:
  /// `fast train` on ring:3, whose worker K pauses while pause-K exists.
  void start(const Arguments& more) {
    Arguments arguments = {"train",
                           "--model",
                           "linear",
                           "--data",
                           "synthetic:512,128",
                           "--topology",
                           "ring:3",
                           "--out",
                           run_.path().string(),
                           "--threads",
                           "1",
                           "--lr",
                           "0.01",
                           "--report-every",
                           "0.05"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--pause-file", (folder_.path() / "pause-{rank}").string()});
    program_ = std::make_unique<Program>(FAST_PROGRAM, arguments);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(3); }, kPatience))
        << program_->err();
  }
  [[nodiscard]] std::filesystem::path pause_file(int rank) const {
    return folder_.path() / ("pause-" + std::to_string(rank));
  }
  [[nodiscard]] bool is_paused(int rank) const {
    const auto events = run_.history(rank).events;
    return !events.empty() && events.back().event == "paused";
  }
  void pause(int rank) {
    std::ofstream{pause_file(rank)};
    ASSERT_TRUE(program_->wait_until([&] { return is_paused(rank); }, kPatience)) << run_.log(rank);
  }
  [[nodiscard]] static Arguments lone(const std::filesystem::path& out) {
    return {"--topology",     "ring:1",
            "--rank",         "0",
            "--listen",       "tcp://127.0.0.1:0",
            "--model",        "linear",
            "--data",         "synthetic:512,64",
            "--epochs",       "600",
            "--threads",      "1",
            "--report-every", "0.05",
            "--quiet",        "--out",
            out.string()};
  }
  [[nodiscard]] static ProgramResult refused(const Arguments& more) {
    Arguments arguments = {"--topology", "ring:1", "--rank", "0", "--data", "synthetic:64,8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(FAST_WORKER, arguments, {}, kPatience);
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::unique_ptr<Program> program_;
};

TEST_F(PausesTest, nobody_waits_for_a_worker_that_pauses_and_it_goes_on_from_there) {
  start({"--epochs", "1000000", "--mode", "bounded:2"});
  pause(1);
  ASSERT_TRUE(program_->wait_until(
      [&] { return run_.events(0, "paused", 1) == 1 && run_.events(2, "paused", 1) == 1; },
      kPatience));
  const std::uint64_t at = run_.step(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(run_.all_go_on(*program_, {0, 2})) << "held up";
  EXPECT_EQ(run_.step(1), at);
  EXPECT_EQ(run_.events(0, "suspect", 1), 0);
  std::filesystem::remove(pause_file(1));
  ASSERT_TRUE(program_->wait_until(
      [&] {
        const WorkerHistory history = run_.history(1);
        return history.lives.size() == 2 &&
               history.progress.size() > history.lives[1].first_progress && run_.trains(1);
      },
      kPatience))
      << run_.log(1);
  EXPECT_TRUE(run_.all_go_on(*program_, {0, 1, 2}));
  EXPECT_EQ(run_.history(1).restarts(), 0) << "a pause is none";
  EXPECT_THAT(run_.log(1), HasSubstr("goes on from step "));
  EXPECT_GE(run_.events(0, "up", 1), 1);
  program_->signal(SIGINT);
  EXPECT_EQ(program_->wait(kPatience).code, 130);
}

TEST_F(PausesTest, others_end_the_run_without_it_and_a_stop_ends_it_in_good_order) {
  start({"--epochs", "300"});
  pause(1);
  const auto ended = [&](int rank) { return run_.history(rank).end.has_value(); };
  ASSERT_TRUE(program_->wait_until([&] { return ended(0) && ended(2); }, kPatience));
  for (const int rank : {0, 2}) {
    EXPECT_EQ(run_.history(rank).end->exit_code, 0) << run_.log(rank);
    EXPECT_THAT(run_.log(rank), Not(HasSubstr("waits for neighbour 1")));
  }
  const auto pids = worker_pids(program_->pid());
  ASSERT_TRUE(pids.contains(1));
  kill(pids.at(1), SIGTERM);
  (void)program_->wait(kPatience);
  EXPECT_THAT(run_.log(1), HasSubstr("stopped on request while it was paused"));
  EXPECT_EQ(run_.history(1).end->exit_code, 130);
  EXPECT_TRUE(std::filesystem::exists(RunFolder(run_.path()).worker_model(1)));
}

TEST_F(PausesTest, a_pause_by_signal_costs_nothing_that_was_learnt) {
  const std::filesystem::path paused = folder_.path() / "run",
                              undisturbed = folder_.path() / "other";
  {
    Program worker(FAST_WORKER, lone(paused));
    for (std::size_t life = 1; life <= 2; ++life) {
      ASSERT_TRUE(worker.wait_until(
          [&] {
            const WorkerHistory history = run_.history(0);
            return history.lives.size() == life &&
                   history.progress.size() > history.lives.back().first_progress + 1;
          },
          kPatience));
      worker.signal(SIGUSR2);
      ASSERT_TRUE(worker.wait_until([&] { return is_paused(0); }, kPatience))
          << "it was through: make the job longer\n"
          << worker.err();
      worker.signal(SIGUSR2);
    }
    EXPECT_EQ(worker.wait(kPatience).code, 0);
  }
  ASSERT_EQ(run_program(FAST_WORKER, lone(undisturbed), {}, kPatience).code, 0);
  const std::string model = read_text(RunFolder(paused).worker_model(0));
  EXPECT_FALSE(model.empty());
  EXPECT_TRUE(model == read_text(RunFolder(undisturbed).worker_model(0)));
  EXPECT_EQ(run_.history(0).lives.size(), 3U);
}

TEST_F(PausesTest, what_cannot_pause_says_why_in_one_line) {
  const std::string file = (folder_.path() / "pause").string();
  const ProgramResult lock_step = refused({"--mode", "sync", "--pause-file", file});
  EXPECT_EQ(lock_step.code, 2);
  EXPECT_THAT(lock_step.err, HasSubstr("--mode sync needs all workers at each step; use"));
  const ProgramResult unsaved = refused({"--checkpoint-every", "0", "--pause-when", "true"});
  EXPECT_EQ(unsaved.code, 2);
  EXPECT_THAT(unsaved.err, HasSubstr("--checkpoint-every 0 writes none; use"));
  const ProgramResult missing = refused({"--pause-when", "no-such-command-here"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("cannot be run"));
  EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1) << missing.err;
}

}  // namespace
}  // namespace fast::testing
