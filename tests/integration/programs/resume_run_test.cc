// A killed run resumes when the same command is given again.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fast/checkpoint/checkpoint.h"
#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

/// Identifies the present checkpoint: a new one has another modification time.
fs::file_time_type newest(const fs::path& file) {
  std::error_code none;
  const fs::file_time_type time = fs::last_write_time(file, none);
  return none ? fs::file_time_type::min() : time;
}

WorkerHistory history(const fs::path& run, int rank) {
  return parse_metrics(read_text(RunFolder(run).metrics(rank)));
}

/// The step from which the present life of `rank` resumed; -1: it did not resume.
long resumed_at(const fs::path& run, int rank) {
  const std::string log = read_text(RunFolder(run).log(rank));
  const std::string words = "goes on from step ";
  const auto at = log.rfind(words);
  return at == std::string::npos ? -1 : std::stol(log.substr(at + words.size()));
}

/// Waits until each of `workers` has written two more checkpoints; the second holds all that is
/// known now. Returns its steps, from its metrics.
std::vector<std::uint64_t> safe_steps(Program& program, const fs::path& run, int workers) {
  std::vector<std::uint64_t> steps;
  for (int rank = 0; rank < workers; ++rank) {
    const fs::path file = RunFolder(run).checkpoint(rank);
    EXPECT_TRUE(program.wait_until(
        [&] { return !history(run, rank).progress.empty() && newest(file) != newest({}); },
        kPatience))
        << program.err();
    steps.push_back(history(run, rank).progress.back().step);
    for (int i = 0; i < 2; ++i) {
      const auto before = newest(file);
      EXPECT_TRUE(program.wait_until([&] { return newest(file) != before; }, kPatience));
    }
  }
  return steps;
}

class ResumeRunTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path run(const std::string& name) const { return folder_.path() / name; }

  [[nodiscard]] Arguments lone(const std::string& model, const std::string& name) const {
    return {"--topology",
            "ring:1",
            "--rank",
            "0",
            "--listen",
            "tcp://127.0.0.1:0",
            "--model",
            model,
            "--data",
            "synthetic:512,64",
            "--epochs",
            model == "linear" ? "300" : "6",
            "--threads",
            "1",
            "--checkpoint-every",
            "0.01",
            "--report-every",
            "0.05",
            "--quiet",
            "--out",
            run(name).string()};
  }
  void expect_same_end(const std::string& model) {
    const std::string name = "killed-" + model;
    for (int life = 0; life < 2; ++life) {
      Program worker(FAST_WORKER, lone(model, name));
      (void)safe_steps(worker, run(name), 1);
      worker.signal(SIGKILL);
      ASSERT_EQ(worker.wait(kPatience).signal, SIGKILL) << "it was through: make the job longer";
    }
    ASSERT_EQ(run_program(FAST_WORKER, lone(model, name), {}, kPatience).code, 0);
    EXPECT_GT(resumed_at(run(name), 0), 0);
    ASSERT_EQ(run_program(FAST_WORKER, lone(model, "undisturbed"), {}, kPatience).code, 0);
    const auto model_of = [&](const std::string& which) {
      return read_text(RunFolder(run(which)).worker_model(0));
    };
    EXPECT_FALSE(model_of(name).empty());
    EXPECT_TRUE(model_of(name) == model_of("undisturbed"));
  }
  [[nodiscard]] Arguments grid(const std::string& topology, const std::string& name) const {
    return {"train",
            "--model",
            "linear",
            "--data",
            "synthetic:512,128",
            "--topology",
            topology,
            "--epochs",
            "2400",
            "--threads",
            "1",
            "--lr",
            "0.01",
            "--report-every",
            "0.05",
            "--checkpoint-every",
            "0.05",
            "--settle-deadline",
            "5",
            "--start-deadline",
            "20",
            "--out",
            run(name).string()};
  }

  TemporaryFolder folder_;
};

TEST_F(ResumeRunTest, AWorkerAloneThatIsKilledEndsBitForBitWhereItWouldHaveEnded) {
  expect_same_end("linear");
}

TEST_F(ResumeRunTest, AGridThatGoesDarkGoesOnAndLosesAtMostWhatNoCheckpointHolds) {
  std::vector<std::uint64_t> safe;
  {
    Program program(FAST_PROGRAM, grid("torus:2x2", "dark"));
    safe = safe_steps(program, run("dark"), 4);
    std::vector<pid_t> all = children_of(program.pid());
    ASSERT_EQ(all.size(), 4U);
    all.push_back(program.pid());
    for (const pid_t process : all) kill(process, SIGKILL);
    ASSERT_EQ(program.wait(kPatience).signal, SIGKILL) << "it was through: make the job longer";
  }
  const ProgramResult refused = run_program(FAST_PROGRAM, grid("torus:2x2", "dark"), {}, kPatience);
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("go on with it: fast train --resume " + run("dark").string()));

  const ProgramResult resumed =
      run_program(FAST_PROGRAM, {"train", "--resume", run("dark").string()}, {}, kPatience);
  ASSERT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_GE(resumed_at(run("dark"), rank),
              static_cast<long>(safe[static_cast<std::size_t>(rank)]));
    const WorkerHistory records = history(run("dark"), rank);
    ASSERT_EQ(records.lives.size(), 2U);
    const std::size_t first = records.lives[1].first_progress;
    ASSERT_LT(first, records.progress.size());
    EXPECT_GT(records.progress[first].progress, 0) << "the schedule goes on";
    EXPECT_EQ(records.progress.back().state, "frozen");
  }
  EXPECT_THAT(resumed.out, HasSubstr("mean model"));
}

TEST_F(ResumeRunTest, AFolderWithoutCheckpointsCannotBeGoneOnWith) {
  Arguments never = grid("ring:1", "none");
  never.insert(never.end(), {"--checkpoint-every", "0", "--epochs", "1"});
  ASSERT_EQ(run_program(FAST_PROGRAM, never, {}, kPatience).code, 0);
  const ProgramResult result =
      run_program(FAST_PROGRAM, {"train", "--resume", run("none").string()}, {}, kPatience);
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, HasSubstr("holds no checkpoint to go on from"));
}

TEST_F(ResumeRunTest, AFinishedRunIsTrainedLongerByMoreEpochs) {
  Arguments first = grid("ring:2", "longer");
  first.insert(first.end(), {"--epochs", "2"});
  ASSERT_EQ(run_program(FAST_PROGRAM, first, {}, kPatience).code, 0);
  const auto samples = [&] {
    return nlohmann::json::parse(read_text(RunFolder(run("longer")).summary()))["samples"]
        .get<std::uint64_t>();
  };
  EXPECT_GE(samples(), 512U);  // each knows by a few steps more or less what the others have made
  const ProgramResult longer = run_program(
      FAST_PROGRAM, {"train", "--resume", run("longer").string(), "--epochs", "8"}, {}, kPatience);
  EXPECT_EQ(longer.code, 0) << longer.out << longer.err;
  EXPECT_GE(samples(), 6 * 512U);
  EXPECT_THAT(longer.out, Not(HasSubstr("started again")));
}

TEST_F(ResumeRunTest, FewerWorkersThanTheRunHasAreRefusedWithItsTopology) {
  Arguments first = grid("ring:3", "fewer");
  first.insert(first.end(), {"--epochs", "2"});
  ASSERT_EQ(run_program(FAST_PROGRAM, first, {}, kPatience).code, 0);
  const ProgramResult fewer = run_program(
      FAST_PROGRAM, {"train", "--resume", run("fewer").string(), "--topology", "ring:2"}, {},
      kPatience);
  EXPECT_EQ(fewer.code, 4);
  EXPECT_THAT(fewer.err, AllOf(HasSubstr("worker-2"), HasSubstr("ranks from 0 to 1"),
                               HasSubstr("--topology ring:3")));
}

TEST_F(ResumeRunTest, FreshStartsOverInTheSameFolder) {
  Arguments once = lone("linear", "fresh");
  once.insert(once.end(), {"--epochs", "2"});
  ASSERT_EQ(run_program(FAST_WORKER, once, {}, kPatience).code, 0);
  once.insert(once.end(), {"--epochs", "1"});
  const ProgramResult refused = run_program(FAST_WORKER, once, {}, kPatience);
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(
      refused.err,
      AllOf(HasSubstr("budget is 1024 samples there, 512 samples here; a budget may only grow"),
            HasSubstr("--fresh")));
  once.emplace_back("--fresh");
  EXPECT_EQ(run_program(FAST_WORKER, once, {}, kPatience).code, 0);
}

}  // namespace
}  // namespace fast::testing
