#include "fast/programs/launch/launcher.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "fast/errors.h"
#include "fast/programs/topology_command.h"

namespace fast {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Launches shell scripts in place of workers.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchResult run(const std::vector<std::string>& scripts) {
    options_.program = "/bin/sh";
    options_.interval = 0.01;
    for (const std::string& script : scripts) options_.arguments.push_back({"-c", script});
    observer_.tick = [this](const std::vector<WorkerProcess>& processes) {
      processes_ = processes;
      if (on_tick_) on_tick_();
    };
    observer_.say = [this](const std::string& line, bool) {
      said_.push_back(line);
      if (on_say_) on_say_(line);
    };
    observer_.how_to_restart = [](int rank) { return "restart " + std::to_string(rank); };
    return launch(options_, observer_);
  }

  /// A script creates this file when it is ready (its trap is set).
  [[nodiscard]] std::string ready(int rank) const {
    return ::testing::TempDir() + "launch-" + std::to_string(getpid()) + "-" + std::to_string(rank);
  }
  /// `trap` on SIGTERM, then lives on.
  [[nodiscard]] std::string stays(const std::string& trap, int rank) const {
    return "trap '" + trap + "' TERM; : > '" + ready(rank) + "'; while :; do sleep 0.05; done";
  }
  /// A script that kills itself in each life before this one, from 1.
  [[nodiscard]] std::string dies_until_life(int rank, int life) const {
    return "echo life >> '" + ready(rank) + "'; [ $(wc -l < '" + ready(rank) + "') -ge " +
           std::to_string(life) + " ] || kill -9 $$";
  }
  /// Sends us `signal`, once, when `workers` scripts are ready.
  void signal_when_ready(int workers, int signal) {
    for (int rank = 0; rank < workers; ++rank) std::filesystem::remove(ready(rank));
    on_tick_ = [this, workers, signal, sent = false]() mutable {
      for (int rank = 0; rank < workers; ++rank) {
        if (sent || !std::filesystem::exists(ready(rank))) return;
      }
      sent = true;
      kill(getpid(), signal);
    };
  }
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (int rank = 0; rank < 2; ++rank) std::filesystem::remove(ready(rank));
  }

  LaunchOptions options_;
  LaunchObserver observer_;
  std::function<void()> on_tick_;
  std::function<void(const std::string&)> on_say_;
  std::vector<WorkerProcess> processes_;
  std::vector<std::string> said_;
};

TEST_F(LaunchTest, WhenAllEndWellTheCodeIsZero) {
  const LaunchResult result = run({"exit 0", "exit 0"});
  EXPECT_EQ(overall_code(result), 0);
  EXPECT_THAT(said_, Contains("worker 1 finished"));
  ASSERT_EQ(processes_.size(), 2U);
  EXPECT_FALSE(processes_[0].running);
}

TEST_F(LaunchTest, WhenAllFailAlikeTheCodeIsTheirs) {
  const LaunchResult result = run({"echo no data >&2; exit 3", "exit 3"});
  EXPECT_EQ(overall_code(result), 3);
  EXPECT_THAT(said_, Contains("worker 0 failed with exit code 3"));
  EXPECT_THAT(said_, Contains(HasSubstr("no data")));
}

TEST_F(LaunchTest, WhenOneDiesTheOthersFinishAndTheCodeSaysSo) {
  const LaunchResult result = run({"kill -9 $$", "exit 0", "exit 7"});
  EXPECT_EQ(overall_code(result), 8);
  EXPECT_EQ(result.exits[0].shell_code(), 137);
  EXPECT_THAT(said_, Contains("worker 0 was ended by SIGKILL"));
}

TEST_F(LaunchTest, ASignalIsForwardedAndWorkersMayEndByThemselves) {
  signal_when_ready(2, SIGINT);
  const LaunchResult result = run({stays("exit 130", 0), stays("exit 130", 1)});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(overall_code(result), 130);
  EXPECT_EQ(result.exits[0].code, 130);
  EXPECT_THAT(said_, Contains("worker 0 left in good order"));
}

TEST_F(LaunchTest, AWorkerThatDoesNotEndAfterASignalIsKilled) {
  options_.stop_grace = 0.2;
  signal_when_ready(1, SIGTERM);
  const LaunchResult result = run({stays("", 0)});
  EXPECT_EQ(overall_code(result), 130);
  EXPECT_EQ(result.exits[0].signal, SIGKILL);
  EXPECT_THAT(said_, Contains(HasSubstr("worker 0 killed: still running")));
}

TEST_F(LaunchTest, WhoeverAsksOnAndOnKillsThem) {
  signal_when_ready(1, SIGINT);
  on_tick_ = [this, first = on_tick_] {
    first();
    if (!said_.empty() && processes_[0].running) kill(getpid(), SIGINT);
  };
  const LaunchResult result = run({stays("", 0)});
  EXPECT_EQ(result.exits[0].signal, SIGKILL);
  EXPECT_THAT(said_, Contains(HasSubstr("asked again by SIGINT")));
}

TEST_F(LaunchTest, TwoSignalsAtOnceAreOneRequest) {
  signal_when_ready(1, SIGTERM);
  on_say_ = [](const std::string& line) {
    if (line.starts_with("SIGTERM")) kill(getpid(), SIGINT);
  };
  const LaunchResult result = run({stays("exit 130", 0)});
  EXPECT_EQ(result.exits[0].code, 130);
  EXPECT_THAT(said_, Contains("worker 0 left in good order"));
}

TEST_F(LaunchTest, AStoppedWorkerIsKilledOnceOthersHaveFinished) {
  options_.stuck_after = 0.2;
  const LaunchResult result = run({"kill -STOP $$", "exit 0"});
  EXPECT_EQ(result.exits[0].signal, SIGKILL);
  EXPECT_EQ(overall_code(result), 8);
  EXPECT_THAT(said_, Contains(HasSubstr("has done nothing")));
}

TEST_F(LaunchTest, AWorkerThatDiesIsStartedAgainWithTheSameCommand) {
  options_.restarts = 1;
  options_.restart_pause = 0;
  const LaunchResult result = run({"exit 0", dies_until_life(1, 2)});
  EXPECT_EQ(overall_code(result), 0);
  EXPECT_THAT(result.restarts, ElementsAre(0, 1));
  EXPECT_THAT(said_, Contains("worker 1 was ended by SIGKILL"));
  EXPECT_THAT(said_, Contains("worker 1 started again (1 of 1)"));
  EXPECT_THAT(said_, Contains("worker 1 finished"));
  EXPECT_THAT(said_, Not(Contains(HasSubstr("to bring it back"))));
  EXPECT_EQ(processes_[1].restarts, 1);
}

TEST_F(LaunchTest, EachWorkerIsStartedAgainSoManyTimesAtMost) {
  options_.restarts = 2;
  options_.restart_pause = 0;
  const LaunchResult result = run({dies_until_life(0, 3), "kill -9 $$", "exit 0"});
  EXPECT_EQ(overall_code(result), 8);
  EXPECT_THAT(result.restarts, ElementsAre(2, 2, 0));
  EXPECT_TRUE(result.exits[0].ok());
  EXPECT_EQ(result.exits[1].signal, SIGKILL);
  EXPECT_THAT(said_, Contains("worker 1 was ended by SIGKILL; it has been started again 2 times, "
                              "which is all that was allowed"));
}

TEST_F(LaunchTest, AnExitCodeOfAMistakeIsNoReasonToStartAgain) {
  options_.restarts = 3;
  options_.restart_pause = 0;
  const LaunchResult result = run({"exit 3", "exit 1"});
  EXPECT_THAT(said_, Contains(HasSubstr("exit code 3; it is not started again")));
  EXPECT_THAT(result.restarts, ElementsAre(0, 3));
  for (const int code : {0, 2, 3, 4, 6, 7, 9, 11, 126, 127, 130}) {
    EXPECT_FALSE(restart_may_help({.code = code})) << code;
  }
  for (const int code : {1, 5, 10, 77, 134}) EXPECT_TRUE(restart_may_help({.code = code})) << code;
  EXPECT_TRUE(restart_may_help({.signal = SIGSEGV}));
}

TEST_F(LaunchTest, ACrashThatRepeatsInTheSameWordsIsTriedOnceMore) {
  options_.restarts = 5;
  options_.restart_pause = 0;
  const LaunchResult same =
      run({"echo loss $$; echo 'line 7'; echo a; echo b; echo \"KeyError: 'x'\" >&2; exit 1"});
  EXPECT_THAT(same.restarts, ElementsAre(1));
  EXPECT_EQ(same.exits[0].code, 1);
  EXPECT_THAT(said_, Contains(HasSubstr("it has ended as its life before, in the same words")));
}

TEST_F(LaunchTest, ACrashInOtherWordsOrNoneIsTriedAsOftenAsIsAllowed) {
  options_.restarts = 3;
  options_.restart_pause = 0;
  EXPECT_THAT(run({"echo at step $$; exit 1", "exit 1", "echo in use; exit 5"}).restarts,
              ElementsAre(3, 3, 3));
}

TEST_F(LaunchTest, ACrashThatComesLateIsNotTheOneBefore) {
  options_.restarts = 3;
  options_.restart_pause = 0;
  options_.repeats_within = -1;
  EXPECT_THAT(run({"echo KeyError; exit 1"}).restarts, ElementsAre(3));
}

TEST_F(LaunchTest, AStopEndsRestarting) {
  options_.restarts = 3;
  options_.restart_pause = 1000;  // it waits to be started again when the signal comes
  on_say_ = [this](const std::string& line) {
    if (line == "worker 0 was ended by SIGKILL") kill(getpid(), SIGTERM);
  };
  const LaunchResult result = run({"kill -9 $$", stays("exit 130", 1)});
  EXPECT_EQ(overall_code(result), 130);
  EXPECT_THAT(result.restarts, ElementsAre(0, 0));
}

TEST_F(LaunchTest, AWorkerThatIsKilledSinceItDoesNothingIsNotStartedAgain) {
  options_.restarts = 3;
  options_.stuck_after = 0.2;
  const LaunchResult result = run({"kill -STOP $$", "exit 0"});
  EXPECT_THAT(result.restarts, ElementsAre(0, 0));
  EXPECT_EQ(overall_code(result), 8);
}

TEST_F(LaunchTest, AWorkersOutputIsPassedOnToTheLastByte) {
  std::map<int, std::string> output;
  options_.last_lines = false;
  observer_.output = [&](int rank, std::string_view text) { output[rank] += text; };
  (void)run({"echo one; echo two >&2", "printf three; exit 3"});
  EXPECT_EQ(output[0], "one\ntwo\n");
  EXPECT_EQ(output[1], "three");
  EXPECT_THAT(said_, Not(Contains(HasSubstr("three"))));
}

TEST_F(LaunchTest, EachWorkerHasVariablesOfItsOwn) {
  options_.environment = {{"FAST_TEST_BOTH", "all"}, {"FAST_TEST_ONE", "all"}};
  options_.own_environment = {{{"FAST_TEST_ONE", "zero"}}};
  std::map<int, std::string> output;
  observer_.output = [&](int rank, std::string_view text) { output[rank] += text; };
  (void)run({"echo $FAST_TEST_BOTH $FAST_TEST_ONE", "echo $FAST_TEST_BOTH $FAST_TEST_ONE"});
  EXPECT_EQ(output[0], "all zero\n");
  EXPECT_EQ(output[1], "all all\n");
}

TEST_F(LaunchTest, TheSignalThatCameReachesAWholeGroupWhereThatIsWanted) {
  options_.reach = Reach::kGroup;
  options_.same_signal = true;
  signal_when_ready(1, SIGINT);
  const std::string inner =
      "trap 'exit 0' INT; : > '" + ready(0) + "'; while :; do sleep 0.05; done";
  const LaunchResult result = run({"trap 'exit 5' INT; sh -c \"" + inner + "\"; exit 6"});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.exits[0].code, 5);
}

TEST_F(LaunchTest, WhatAFailedWorkerLeavesOfItsGroupIsKilled) {
  options_.reach = Reach::kGroup;
  std::string output;
  observer_.output = [&](int, std::string_view text) { output += text; };
  (void)run({"sleep 1000 & echo $!; exit 1"});
  const pid_t left = std::stoi(output);
  ASSERT_GT(left, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto dead = [left] {
    // A zombie that nobody has reaped yet is dead too.
    std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
    std::string line;
    return !std::getline(stat, line) || line.find(") Z ") != std::string::npos;
  };
  while (!dead() && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_TRUE(dead());
}

TEST_F(LaunchTest, AProgramThatCannotStartThrows) {
  options_.arguments = {{"x"}};
  options_.program = "/nonexistent/worker";
  EXPECT_THROW((void)launch(options_, observer_), FileError);
}

TEST(DrawingTest, EdgesAndWrapsAreDrawnWhereTheyAre) {
  EXPECT_EQ(draw(stencil::Topology::parse("grid:2x2")),
            "     0 -- 1\n"
            "     |    |\n"
            "     2 -- 3\n");
  EXPECT_EQ(draw(stencil::Topology::parse("torus:3x2")),
            "     |    |\n"
            "     0 -- 1\n"
            "     |    |\n"
            "     2 -- 3\n"
            "     |    |\n"
            "     4 -- 5\n"
            "     |    |\n");
  EXPECT_EQ(draw(stencil::Topology::parse("ring:3")), "  -- 0 -- 1 -- 2 --\n");
  EXPECT_EQ(draw(stencil::Topology::parse("complete:4")), "");
  EXPECT_EQ(draw(stencil::Topology::parse("torus:64x64")), "");
}

}  // namespace
}  // namespace fast
