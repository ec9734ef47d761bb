// Wall clocks that are wrong, and that step: nothing is decided by them.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

class ClocksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(FAST_FAKETIME))
        << "install faketime: tests/install-packages.sh test";
  }
  /// Of one of three workers on a ring.
  [[nodiscard]] Arguments worker(int rank, const std::string& epochs) const {
    return {"--topology",
            "ring:3",
            "--rank",
            std::to_string(rank),
            "--run-id",
            "clocks",
            "--listen",
            "tcp://127.0.0.1:0",
            "--peer-template",
            "file:" + (run_.path() / "worker-{rank}" / "endpoint").string(),
            "--share-memory",
            "never",
            "--model",
            "linear",
            "--data",
            "synthetic:512,128",
            "--epochs",
            epochs,
            "--threads",
            "1",
            "--lr",
            "0.01",
            "--report-every",
            "0.1",
            "--checkpoint-every",
            "0.1",
            "--quiet",
            "--out",
            run_.path().string()};
  }
  /// The wall clock alone is another, as `when` says or, where that is empty, the file.
  [[nodiscard]] Environment clock(const std::string& when) const {
    Environment environment = {{"LD_PRELOAD", FAST_FAKETIME},
                               {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
                               {"FAKETIME_NO_CACHE", "1"},
                               {"DONT_FAKE_MONOTONIC", "1"}};
    if (when.empty()) {
      environment["FAKETIME_TIMESTAMP_FILE"] = file_;
    } else {
      environment["FAKETIME"] = when;
    }
    return environment;
  }
  void set(const std::string& when) const {
    const std::string next = file_ + ".next";
    std::ofstream(next) << when << '\n';
    std::filesystem::rename(next, file_);
  }
  [[nodiscard]] bool lives(Program& program, int rank, std::size_t life) const {
    return program.wait_until(
        [&] {
          const WorkerHistory history = run_.history(rank);
          return history.lives.size() == life && run_.trains(rank) &&
                 history.progress.size() > history.lives.back().first_progress;
        },
        kPatience);
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::string file_ = (folder_.path() / "clock").string();
};

TEST_F(ClocksTest, a_clock_in_1970_one_a_year_ahead_and_one_that_steps_back_change_nothing) {
  const std::string epochs = "1200";  // longer than it takes to be killed and to come back
  set("+365d");
  Program now(FAST_WORKER, worker(0, epochs));
  Program in_1970(FAST_WORKER, worker(1, epochs), clock("@1970-01-02 00:00:00"));
  auto steps = std::make_unique<Program>(FAST_WORKER, worker(2, epochs), clock(""));
  ASSERT_TRUE(steps->wait_until([&] { return run_.all_train(3); }, kPatience)) << steps->err();
  EXPECT_THAT(run_.log(1), HasSubstr("1970-01-0"));
  EXPECT_LT(run_.history(1).start.unix_time, 10 * 86400);
  EXPECT_GT(run_.history(2).start.unix_time, run_.history(0).start.unix_time + 300 * 86400.0);
  set("-30d");
  EXPECT_TRUE(run_.all_go_on(*steps, {0, 1, 2})) << "held up by a step of the clock";
  // It is killed, and what it wrote is of the future: it goes on from there all the same.
  steps->signal(SIGKILL);
  (void)steps->wait(kPatience);
  steps = std::make_unique<Program>(FAST_WORKER, worker(2, epochs), clock(""));
  EXPECT_TRUE(lives(*steps, 2, 2)) << steps->err();
  EXPECT_THAT(run_.log(2), HasSubstr("goes on from step "));
  for (Program* const program : {&now, &in_1970, steps.get()}) {
    const ProgramResult result = program->wait(kPatience);
    EXPECT_EQ(result.code, 0) << result.err;
  }
  const ProgramResult report =
      run_program(FAST_PROGRAM, {"report", run_.path().string()}, {}, kPatience);
  EXPECT_EQ(report.code, 0) << report.out << report.err;
  const double own = run_.history(0).progress.back().time;
  for (const int rank : {1, 2}) {
    const WorkerHistory history = run_.history(rank);
    EXPECT_LT(history.progress.back().time, own + 600) << "of its own monotonic clock";
    for (std::size_t i = 1; i < history.progress.size(); ++i) {
      EXPECT_GE(history.progress[i].time, history.progress[i - 1].time);
    }
    for (const WorkerProgress& p : history.progress) {
      EXPECT_GE(p.samples_per_second, 0);
      EXPECT_LE(p.training_seconds, p.time + 1);
    }
  }
}

/// A machine that sleeps hears nothing meanwhile, and wakes in a world whose clock is a day ahead.
TEST_F(ClocksTest, a_worker_that_was_suspended_for_a_day_goes_on_with_the_others) {
  set("+0d");
  Arguments quick = worker(2, "100000");
  const Arguments silence = {"--suspect-after", "0.5", "--gone-after", "1"};
  quick.insert(quick.end(), silence.begin(), silence.end());
  std::vector<std::unique_ptr<Program>> programs;
  for (const int rank : {0, 1}) {
    Arguments arguments = worker(rank, "100000");
    arguments.insert(arguments.end(), silence.begin(), silence.end());
    programs.push_back(std::make_unique<Program>(FAST_WORKER, arguments));
  }
  programs.push_back(std::make_unique<Program>(FAST_WORKER, quick, clock("")));
  Program& sleeper = *programs.back();
  ASSERT_TRUE(sleeper.wait_until([&] { return run_.all_train(3); }, kPatience)) << sleeper.err();
  sleeper.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return run_.events(0, "gone", 2) > 0; }));
  EXPECT_TRUE(run_.all_go_on(*programs[0], {0, 1}));
  set("+1d");
  sleeper.signal(SIGCONT);
  EXPECT_TRUE(run_.all_go_on(sleeper, {0, 1, 2}));
  EXPECT_TRUE(eventually([&] { return run_.events(0, "up", 2) > 0; })) << run_.log(0);
  for (const auto& program : programs) program->signal(SIGTERM);
  for (const auto& program : programs) EXPECT_EQ(program->wait(kPatience).code, 130);
}

/// The monotonic clock of another boot: it begins anew, here a day ahead.
TEST_F(ClocksTest, a_checkpoint_serves_after_a_boot_whose_monotonic_clock_is_another) {
  const Arguments ahead = {"--time", "--fork",     "--kill-child", "--monotonic",
                           "86400",  "--boottime", "86400",        "--"};
  Arguments asked = ahead;
  asked.push_back("/bin/true");
  if (run_program("/usr/bin/unshare", asked).code != 0) {
    // ctest knows these words, and says that the test was not run.
    std::cout << "time namespaces cannot be made here" << std::endl;
    return;
  }
  Arguments alone = worker(0, "100000");
  alone[1] = "ring:1";
  {
    Program first(FAST_WORKER, alone);
    ASSERT_TRUE(first.wait_until(
        [&] { return std::filesystem::exists(run_.worker(0) / "checkpoint.safetensors"); },
        kPatience));
    first.signal(SIGKILL);
    (void)first.wait(kPatience);
  }
  Arguments arguments = ahead;
  arguments.emplace_back(FAST_WORKER);
  arguments.insert(arguments.end(), alone.begin(), alone.end());
  Program second("/usr/bin/unshare", arguments);
  ASSERT_TRUE(second.wait_until(
      [&] {
        const WorkerHistory history = run_.history(0);
        return history.lives.size() == 2 &&
               history.progress.size() > history.lives[1].first_progress + 3;
      },
      kPatience))
      << second.err();
  EXPECT_THAT(run_.log(0), HasSubstr("goes on from step "));
  EXPECT_LT(run_.history(0).progress.back().time, 3600) << "a day lay between two clocks alone";
}

}  // namespace
}  // namespace fast::testing
