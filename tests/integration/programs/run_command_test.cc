// fast run: programs of any kind, one process for each rank.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using Strings = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Strings arguments(const std::string& topology, const Strings& more, const Strings& program) {
  Strings all = {"run", "--topology", topology};
  all.insert(all.end(), more.begin(), more.end());
  all.emplace_back("--");
  all.insert(all.end(), program.begin(), program.end());
  return all;
}

ProgramResult run(const std::string& topology, const Strings& more, const Strings& program,
                  const Variables& environment = {}) {
  return run_program(FAST_PROGRAM, arguments(topology, more, program), environment, kPatience);
}

/// Those of one rank, without its prefix.
Strings lines_of(const std::string& out, int rank) {
  const std::string prefix = "[" + std::to_string(rank) + "] ";
  Strings lines;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(prefix)) lines.push_back(line.substr(prefix.size()));
  }
  return lines;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A member that trains for some seconds.
const Variables kLong = {{"FAST_BUDGET", "40000"},
                         {"FAST_SUSPECT_AFTER", "2"},
                         {"FAST_GONE_AFTER", "5"},
                         {"FAST_CHECKPOINT_EVERY", "0.1"},
                         {"FAST_SETTLE_DEADLINE", "20"}};

/// The same, where all come and go together: nobody is to be given up on a busy machine.
const Variables kLongTogether = {
    {"FAST_BUDGET", "40000"}, {"FAST_CHECKPOINT_EVERY", "0.1"}, {"FAST_SUSPECT_AFTER", "30"}};

TEST(RunCommandTest, EachProcessIsToldItsPlaceInItsEnvironment) {
  const ProgramResult result =
      run("ring:3", {},
          {"sh", "-c",
           "echo $FAST_RANK $FAST_TOPOLOGY $FAST_RUN_ID; echo $FAST_PEER >&2; "
           "printf \"$FAST_LISTEN $0 $FAST_CODEC\"",
           "an argument"},
          {{"FAST_CODEC", "int8"}, {"FAST_RANK", "7"}});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  std::map<int, std::string> listen;
  std::string run_id;
  for (int rank = 0; rank < 3; ++rank) {
    const Strings lines = lines_of(result.out, rank);
    ASSERT_EQ(lines.size(), 3U) << result.out;
    std::istringstream place(lines[0]), end(lines[2]);
    std::string number, topology, id, argument;
    place >> number >> topology >> id;
    EXPECT_EQ(number, std::to_string(rank));
    EXPECT_EQ(topology, "ring:3");
    EXPECT_NE(id, "");
    EXPECT_TRUE(run_id.empty() || id == run_id) << "one run";
    run_id = id;
    end >> listen[rank];
    EXPECT_THAT(lines[2], HasSubstr(" an argument int8"));
  }
  EXPECT_EQ(lines_of(result.out, 0)[1], "1=" + listen[1] + ",2=" + listen[2]);
  EXPECT_EQ(lines_of(result.out, 2)[1], "0=" + listen[0] + ",1=" + listen[1]);
}

TEST(RunCommandTest, TheUsageLineSaysWhereTheProgramStands) {
  const ProgramResult result = run_program(FAST_PROGRAM, {"run", "--help"}, {}, kPatience);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("Usage: fast run [OPTIONS] -- PROGRAM [ARGUMENTS]\n"));
}

TEST(RunCommandTest, SessionsOfTheEnvironmentMeetAndAgree) {
  for (const std::string transport : {"auto", "tcp", "zmq"}) {
    const ProgramResult result =
        run("torus:2x2", {}, {FAST_MEMBER},
            {{"FAST_BUDGET", "400"},
             {"FAST_TRANSPORT", transport},
             {"FAST_SHARE_MEMORY", transport == "auto" ? "auto" : "never"}});
    EXPECT_EQ(result.code, 0) << transport << result.out << result.err;
    EXPECT_EQ(count(result.out, "] agreed on "), 4U) << transport << result.out;
  }
}

TEST(RunCommandTest, AProcessThatIsKilledIsStartedAgainAndGoesOnFromItsCheckpoint) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run";
  Program program(FAST_PROGRAM,
                  arguments("torus:2x2", {"--restarts", "1", "--out", out.string()}, {FAST_MEMBER}),
                  kLong);
  const fs::path checkpoint = out / "worker-1" / "checkpoint.safetensors";
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(checkpoint); }, kPatience))
      << program.out() << program.err();
  kill(children_of(program.pid()).at(1), SIGKILL);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("fast run: worker 1 was ended by SIGKILL"),
                                HasSubstr("fast run: worker 1 started again (1 of 1)")));
  const Strings lines = lines_of(result.out, 1);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const std::string& line) { return line.starts_with("begins at step "); }),
            2);
  EXPECT_EQ(std::ranges::count(lines, "begins at step 0"), 1) << result.out;
  EXPECT_EQ(count(result.out, "] agreed on "), 4U) << result.out;
}

TEST(RunCommandTest, WhatSessionsLeaveIsReportedAsThatOfWorkersIs) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run";
  const ProgramResult result =
      run("ring:3", {"--out", out.string()}, {FAST_MEMBER}, {{"FAST_BUDGET", "900"}});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("a program's own"), HasSubstr("mean.safetensors")));
  const auto summary = nlohmann::json::parse(read_text(out / "summary.json"));
  EXPECT_EQ(summary["workers"], 3);
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0, 0}));
  EXPECT_GE(summary["samples"], 850);  // word of the others' steps comes a moment later
  EXPECT_LT(summary["consensus_distance"], 1e-2);
  EXPECT_TRUE(summary["test_accuracy"]["mean_model"].is_null());
  EXPECT_TRUE(summary["left_out"].empty() && summary["lost_ranks"].empty()) << summary;
  EXPECT_TRUE(fs::exists(out / "report.html"));
  const ProgramResult again = run_program(FAST_PROGRAM, {"report", out.string()}, {}, kPatience);
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST(RunCommandTest, AProgramThatOpensNoSessionHasNoResult) {
  const TemporaryFolder folder;
  const ProgramResult result = run("ring:2", {"--out", (folder.path() / "run").string()}, {"true"});
  EXPECT_EQ(result.code, 11) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("there is no result in"));
}

TEST(RunCommandTest, WithoutRestartsTheOthersGoOnAndTheCodeSaysThatOneIsLost) {
  Program program(FAST_PROGRAM, arguments("ring:3", {}, {FAST_MEMBER}), kLong);
  ASSERT_TRUE(program.wait_until([&] { return count(program.out(), "] trains") == 3; }, kPatience))
      << program.out() << program.err();
  kill(children_of(program.pid()).at(0), SIGKILL);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_EQ(count(result.out, "] agreed on "), 2U) << result.out;
}

TEST(RunCommandTest, TheExitCodeIsTheCommonOneOrThatAWorkerIsLost) {
  EXPECT_EQ(run("ring:2", {}, {"sh", "-c", "exit 3"}).code, 3);
  const ProgramResult one = run("ring:2", {"--restarts", "1"}, {"sh", "-c", "exit $FAST_RANK"});
  EXPECT_EQ(one.code, 8);
  EXPECT_THAT(one.err, AllOf(HasSubstr("worker 1 failed with exit code 1"),
                             HasSubstr("started again once, which is all")));
}

TEST(RunCommandTest, ACrashThatRepeatsInTheSameWordsIsTriedOnceMore) {
  const ProgramResult same =
      run("ring:1", {"--restarts", "5"},
          {"sh", "-c",
           "echo loss $$; echo 'File \"train.py\", line 7'; echo line; echo of; "
           "echo \"KeyError: 'x'\" >&2; exit 1"});
  EXPECT_EQ(same.code, 1);
  EXPECT_EQ(count(same.err, "started again ("), 1U) << same.err;
  EXPECT_THAT(same.err, HasSubstr("not started again, since it has ended as its life before"));
  const ProgramResult other =
      run("ring:1", {"--restarts", "2"}, {"sh", "-c", "echo \"at step $$\"; exit 1"});
  EXPECT_EQ(count(other.err, "started again ("), 2U) << other.err;
  const ProgramResult silent = run("ring:1", {"--restarts", "2"}, {"sh", "-c", "exit 1"});
  EXPECT_EQ(count(silent.err, "started again ("), 2U) << silent.err;
}

TEST(RunCommandTest, ARunThatWentDarkGoesOn) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run").string();
  {
    Program program(FAST_PROGRAM, arguments("ring:2", {"--out", out}, {FAST_MEMBER}),
                    kLongTogether);
    for (const char* const worker : {"worker-0", "worker-1"}) {
      ASSERT_TRUE(program.wait_until(
          [&] { return fs::exists(fs::path(out) / worker / "checkpoint.safetensors"); }, kPatience))
          << program.out() << program.err();
    }
    const std::vector<pid_t> all = children_of(program.pid());
    program.signal(SIGKILL);
    for (const pid_t process : all) kill(process, SIGKILL);
    EXPECT_EQ(program.wait(kPatience).signal, SIGKILL);
  }
  const ProgramResult refused = run("ring:2", {"--out", out}, {FAST_MEMBER});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("go on with it: fast run --resume " + out));
  const ProgramResult resumed = run("ring:2", {"--resume", out}, {FAST_MEMBER}, kLongTogether);
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.out, Not(HasSubstr("begins at step 0\n")));

  const std::string summary = read_text(fs::path(out) / "summary.json");
  const ProgramResult other =
      run("ring:2", {"--resume", out}, {FAST_MEMBER}, {{"FAST_SEED", "77"}});
  EXPECT_EQ(other.code, 4) << other.out << other.err;
  EXPECT_THAT(other.err, HasSubstr("is as it was"));
  EXPECT_EQ(read_text(fs::path(out) / "summary.json"), summary);
}

TEST(RunCommandTest, CtrlCReachesAllThatAProcessHasStarted) {
  const std::string inner =
      "trap 'echo inner; exit 0' INT; echo ready; "
      "while :; do sleep 0.05; done";
  Program program(FAST_PROGRAM,
                  arguments("ring:2", {"--restarts", "5"},
                            {"sh", "-c", "trap 'exit 130' INT; sh -c \"" + inner + "\"; exit 0"}));
  ASSERT_TRUE(program.wait_until([&] { return count(program.out(), "] ready") == 2; }, kPatience))
      << program.out() << program.err();
  program.signal(SIGINT);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  EXPECT_EQ(count(result.out, "] inner"), 2U) << result.out;
  EXPECT_THAT(result.err, Not(HasSubstr("started again")));
}

TEST(RunCommandTest, WhatAProcessHasStartedEndsWithALauncherThatWasKilled) {
  Program program(FAST_PROGRAM,
                  arguments("ring:2", {}, {"sh", "-c", "sleep 1000 & echo started $!; wait"}));
  ASSERT_TRUE(program.wait_until(
      [&] { return count(program.out(), "] started") == 2 && program.out().back() == '\n'; },
      kPatience))
      << program.out() << program.err();
  std::vector<std::string> below;
  for (const int rank : {0, 1}) {
    const std::string number = lines_of(program.out(), rank).at(0).substr(sizeof "started");
    below.push_back("/proc/" + number + "/cmdline");
    // It may be between its fork and its exec.
    ASSERT_TRUE(
        program.wait_until([&] { return count(read_text(below.back()), "1000") > 0; }, kPatience));
  }
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait(kPatience).signal, SIGKILL);
  const auto gone = [](const std::string& file) { return read_text(file).empty(); };
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!std::ranges::all_of(below, gone) && std::chrono::steady_clock::now() < until) {
  }
  EXPECT_TRUE(std::ranges::all_of(below, gone)) << "grandchildren live on";
}

TEST(RunCommandTest, SigtermIsPassedOnAsItCame) {
  Program program(FAST_PROGRAM, arguments("ring:1", {},
                                          {"sh", "-c",
                                           "trap 'echo asked; exit 0' TERM; echo ready; "
                                           "while :; do sleep 0.05; done"}));
  ASSERT_TRUE(program.wait_until([&] { return count(program.out(), "] ready") == 1; }, kPatience));
  program.signal(SIGTERM);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.out, HasSubstr("[0] asked"));
}

TEST(RunCommandTest, AFastWorkerIsAProgramToo) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run").string();
  const ProgramResult result = run("ring:2", {"--out", out},
                                   {FAST_WORKER, "--model", "linear", "--data", "synthetic:512,128",
                                    "--epochs", "40", "--threads", "1", "--lr", "0.01"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const ProgramResult report = run_program(FAST_PROGRAM, {"report", out}, {}, kPatience);
  EXPECT_EQ(report.code, 0) << report.out << report.err;
  EXPECT_TRUE(fs::exists(fs::path(out) / "mean.safetensors"));
}

TEST(RunCommandTest, MistakesAreNamedBeforeAnythingStarts) {
  const std::vector<std::pair<Strings, std::string>> cases = {
      {{"run", "--topology", "ring:2"}, "no program"},
      {{"run", "--topology", "ring:2", "--"}, "no program"},
      {{"run", "--", "true"}, "no topology"},
      {{"run", "--topology", "ring:2", "./train"}, "put -- before the program"},
      {{"run", "--topology", "ring:2", "--", "no-such-program"}, "'no-such-program'"},
      {{"run", "--topology", "ring:2", "--", "/no/such/program"}, "/no/such/program"},
      {{"run", "--topology", "hexagon:2", "--", "true"}, "hexagon:2"},
      {{"run", "--topology", "ring:2", "--restarts", "-1", "--", "true"}, "--restarts -1"},
      {{"run", "--topology", "ring:2", "--restart", "1", "--", "true"}, "did you mean --restarts?"},
      {{"run", "--topology", "ring:2", "--resume", "a", "--out", "b", "--", "true"}, "--resume"},
  };
  for (const auto& [wish, expected] : cases) {
    const ProgramResult result = run_program(FAST_PROGRAM, wish, {}, kPatience);
    EXPECT_EQ(result.code, 2) << expected << result.err;
    EXPECT_THAT(result.err, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace fast::testing
