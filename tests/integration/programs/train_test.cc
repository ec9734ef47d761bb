#include <gmock/gmock.h>
#include <signal.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "fast/run/safetensors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/npy_files.h"
#include "tests/support/process.h"
#include "tests/support/train_fixture.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(TrainTest, OneWorkerAloneLeavesACompleteRunFolder) {
  const ProgramResult result = run_program(FAST_PROGRAM, wishes("ring:1", "4"), {}, kPatience);
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  expect_complete(run(), 1);
  const auto summary = summary_of(run());
  EXPECT_EQ(summary["workers"], 1);
  EXPECT_GE(summary["samples"], 2048);
  EXPECT_EQ(summary["sweeps_completed"], 0);
}

TEST_F(TrainTest, FourWorkersOnATorusLeaveACompleteRunFolder) {
  write_cifar10(folder_.path() / "cifar", 5, 200, 200);
  std::vector<std::string> some = wishes("torus:2x2", "100");
  some.insert(some.end(), {"--data", "cifar10:" + (folder_.path() / "cifar").string()});
  const ProgramResult result = run_program(FAST_PROGRAM, some, {}, kPatience);
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  expect_complete(run(), 4);
  const auto summary = summary_of(run());
  EXPECT_EQ(summary["workers"], 4);
  EXPECT_EQ(summary["topology"], "torus:2x2");
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0, 0, 0}));
  EXPECT_GT(summary["sweeps_completed"], 0);
  EXPECT_GT(summary["bytes_sent"], 0);
  EXPECT_GT(summary["test_accuracy"]["mean_model"], 0.1);
  EXPECT_EQ(summary["test_accuracy"]["workers"].size(), 4U);
  EXPECT_LT(summary["consensus_distance"], 0.05);
  EXPECT_THAT(result.out, AllOf(HasSubstr("mean model"), HasSubstr("report.html")));
}

TEST_F(TrainTest, StatisticsAreThoseOfAllShardsUnlessTheyAreKeptLocal) {
  const auto variances = [](const fs::path& run, int rank) {
    const auto file =
        SafetensorsFile::open(run / ("worker-" + std::to_string(rank)) / "model.safetensors");
    const auto bytes = file.find("layer1.0.bn1.running_var")->bytes;
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  const auto apart = [](const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += std::abs(a[i] - b[i]);
      size += b[i];
    }
    return difference / size;
  };
  // In lock step there is no settling; on a complete graph one average is the mean.
  for (const auto& [mode, how] : {std::pair("async", "mix"), {"sync", "mix"}, {"async", "local"}}) {
    const std::string name = std::string(mode) + "-" + how;
    std::vector<std::string> some = wishes("complete:3", "1", name);
    some.insert(some.end(), {"--model", "resnet8", "--partition", "by-label", "--mode", mode,
                             "--buffers", how, "--settle-deadline", "60"});
    const ProgramResult result = run_program(FAST_OF_ALL_MODELS, some, {}, kPatience);
    ASSERT_EQ(result.code, 0) << result.out << result.err;
    const double found = apart(variances(run(name), 0), variances(run(name), 1));
    if (how == std::string("mix")) {
      EXPECT_LT(found, 0.002) << mode;
    } else {
      EXPECT_GT(found, 0.01);
    }
  }
}

TEST_F(TrainTest, WorkersOfOneHostExchangeInSharedMemoryUnlessThatIsForbidden) {
  for (const bool forbidden : {false, true}) {
    std::vector<std::string> some = wishes("torus:2x2", "100", forbidden ? "tcp" : "auto");
    if (forbidden) some.insert(some.end(), {"--share-memory", "never"});
    const ProgramResult result = run_program(FAST_PROGRAM, some, {}, kPatience);
    ASSERT_EQ(result.code, 0) << result.out << result.err;
    const auto summary = summary_of(run(forbidden ? "tcp" : "auto"));
    EXPECT_GT(summary["sweeps_completed"], 0);
    EXPECT_LT(summary["consensus_distance"], 0.05);
    if (forbidden) {
      EXPECT_EQ(summary["bytes_shared"], 0);
      EXPECT_GT(summary["bytes_sent"], 1'000'000);
      EXPECT_THAT(read_text(run("tcp") / "worker-0" / "log.txt"),
                  HasSubstr(" GB an hour over the network"));
    } else {
      // The model is 31 kB, the telemetry beside it less than 1.
      EXPECT_GT(summary["bytes_shared"], 1'000'000);
      EXPECT_LT(summary["bytes_sent"], summary["bytes_shared"]);
    }
  }
}

TEST_F(TrainTest, WhatTheRunFolderHoldsRunsAgainAndReportsAgain) {
  ASSERT_EQ(run_program(FAST_PROGRAM, wishes("ring:2", "40"), {}, kPatience).code, 0);
  const auto summary = summary_of(run());
  const ProgramResult again = run_program(
      FAST_PROGRAM,
      {"train", "--config", (run() / "config.toml").string(), "--out", run("again").string()}, {},
      kPatience);
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  const ProgramResult report = run_program(
      FAST_PROGRAM, {"report", run().string(), "--out", run("report").string()}, {}, kPatience);
  ASSERT_EQ(report.code, 0) << report.err;
  const auto reported = summary_of(run("report"));
  EXPECT_EQ(reported["test_accuracy"], summary["test_accuracy"]);
  EXPECT_EQ(reported["exit_codes"], summary["exit_codes"]);
  EXPECT_EQ(read_text(run("report") / "mean.safetensors"), read_text(run() / "mean.safetensors"));
}

TEST_F(TrainTest, AReportOfWorkerFoldersIsWrittenBesideThem) {
  ASSERT_EQ(run_program(FAST_PROGRAM, wishes("ring:2", "40"), {}, kPatience).code, 0);
  fs::remove(run() / "mean.safetensors");
  const std::string own = read_text(run() / "worker-0" / "model.safetensors");
  const ProgramResult report = run_program(
      FAST_PROGRAM, {"report", (run() / "worker-0").string(), (run() / "worker-1").string()}, {},
      kPatience);
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_TRUE(read_text(run() / "worker-0" / "model.safetensors") == own);
  EXPECT_FALSE(fs::exists(run() / "worker-0" / "mean.safetensors"));
  EXPECT_TRUE(fs::exists(run() / "mean.safetensors"));
}

TEST_F(TrainTest, AModelThatIsUnusableIsLeftOutAndNamed) {
  ASSERT_EQ(run_program(FAST_PROGRAM, wishes("ring:2", "40"), {}, kPatience).code, 0);
  fs::resize_file(run() / "worker-1" / "model.safetensors", 0);
  const ProgramResult report = run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience);
  EXPECT_EQ(report.code, 8) << report.err;
  EXPECT_THAT(report.err, HasSubstr("worker 1 is not in the mean model"));
  EXPECT_THAT(report.out, HasSubstr("not in the mean"));
  EXPECT_TRUE(fs::exists(run() / "mean.safetensors"));
}

TEST_F(TrainTest, WithoutItsDataSetARunIsReportedButNotEvaluated) {
  write_cifar10(folder_.path() / "cifar", 5, 200, 200);
  std::vector<std::string> some = wishes("ring:2", "20");
  some.insert(some.end(), {"--data", "cifar10:" + (folder_.path() / "cifar").string()});
  ASSERT_EQ(run_program(FAST_PROGRAM, some, {}, kPatience).code, 0);
  fs::remove_all(folder_.path() / "cifar");
  const ProgramResult report = run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience);
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("not evaluated: "), HasSubstr("mean.safetensors")));
}

TEST_F(TrainTest, ARunThatFallsApartIsNamedByItsParts) {
  std::vector<std::string> some = wishes("ring:6", "1500");
  some.insert(some.end(), {"--suspect-after", "0.5", "--gone-after", "1"});
  Program program(FAST_PROGRAM, some);
  ASSERT_TRUE(program.wait_until([&] { return all_train(run(), 6); }, kPatience)) << program.err();
  const std::vector<pid_t> workers = children_of(program.pid());
  ASSERT_EQ(workers.size(), 6U);
  kill(workers[0], SIGKILL);
  kill(workers[3], SIGKILL);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("workers 1, 2 and 4, 5"));
  EXPECT_THAT(result.err, HasSubstr("the run fell apart"));
  EXPECT_EQ(summary_of(run())["islands"], nlohmann::json::parse("[[1, 2], [4, 5]]"));
  EXPECT_EQ(SafetensorsFile::open(run() / "mean.safetensors").metadata().at("mean_of_ranks"),
            "[1,2]");
  EXPECT_EQ(SafetensorsFile::open(run() / "mean-of-4.safetensors").metadata().at("mean_of_ranks"),
            "[4,5]");
}

TEST_F(TrainTest, AForeignFolderWithANameLikeAWorkersIsPassedOver) {
  fs::create_directories(run() / "worker-20251126123456");
  const ProgramResult result = run_program(FAST_PROGRAM, wishes("ring:2", "40"), {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(TrainTest, AFolderThatHoldsARunIsRefusedUnlessOverwritten) {
  ASSERT_EQ(run_program(FAST_PROGRAM, wishes("ring:2", "40"), {}, kPatience).code, 0);
  const std::string summary = read_text(run() / "summary.json");
  const ProgramResult refused = run_program(FAST_PROGRAM, wishes("ring:1", "1"), {}, kPatience);
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(read_text(run() / "summary.json"), summary);
  std::vector<std::string> overwrite = wishes("ring:1", "1");
  overwrite.push_back("--overwrite");
  EXPECT_EQ(run_program(FAST_PROGRAM, overwrite, {}, kPatience).code, 0);
  EXPECT_EQ(summary_of(run())["workers"], 1);
}

TEST_F(TrainTest, CtrlCEndsEveryWorkerInGoodOrder) {
  Program program(FAST_PROGRAM, wishes("torus:2x2", "100000"));
  ASSERT_TRUE(program.wait_until([&] { return all_train(run(), 4); }, kPatience)) << program.err();
  const std::vector<pid_t> workers = children_of(program.pid());
  EXPECT_EQ(workers.size(), 4U);
  program.signal(SIGINT);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_complete(run(), 4);
  EXPECT_EQ(summary_of(run())["exit_codes"], nlohmann::json({130, 130, 130, 130}));
  for (const pid_t worker : workers) EXPECT_EQ(kill(worker, 0), -1) << "still there";
}

TEST_F(TrainTest, WhenTheLauncherIsKilledItsWorkersSaveTheirModelsAndEnd) {
  Program program(FAST_PROGRAM, wishes("ring:2", "100000"));
  ASSERT_TRUE(program.wait_until([&] { return all_train(run(), 2); }, kPatience)) << program.err();
  const std::vector<pid_t> workers = children_of(program.pid());
  ASSERT_EQ(workers.size(), 2U);
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait(kPatience).signal, SIGKILL);
  Program observer("/bin/sleep", {"60"});
  EXPECT_TRUE(observer.wait_until([&] {
    // A zombie that nobody has reaped yet is dead too.
    return std::all_of(workers.begin(), workers.end(), [](pid_t worker) {
      const std::string stat = read_text("/proc/" + std::to_string(worker) + "/stat");
      return stat.empty() || stat.find(") Z ") != std::string::npos;
    });
  }));
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(fs::exists(run() / ("worker-" + std::to_string(rank)) / "model.safetensors"));
  }
}

TEST_F(TrainTest, AWorkerThatIsKilledStopsNobodyElse) {
  std::vector<std::string> some = wishes("torus:2x2", "500");
  some.insert(some.end(), {"--suspect-after", "0.5", "--gone-after", "1"});
  Program program(FAST_PROGRAM, some);
  ASSERT_TRUE(program.wait_until([&] { return all_train(run(), 4); }, kPatience)) << program.err();
  const std::vector<pid_t> workers = children_of(program.pid());
  ASSERT_EQ(workers.size(), 4U);
  kill(workers[2], SIGKILL);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("worker 2 was ended by SIGKILL"), HasSubstr("to bring it back")));
  const auto summary = summary_of(run());
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json({2}));
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0, 137, 0}));
}

TEST_F(TrainTest, AWorkerThatIsStartedAgainByHandTakesPartAgain) {
  std::vector<std::string> some = wishes("ring:4", "900");
  some.insert(some.end(), {"--suspect-after", "0.5", "--gone-after", "5"});
  Program program(FAST_PROGRAM, some);
  ASSERT_TRUE(program.wait_until([&] { return all_train(run(), 4); }, kPatience)) << program.err();
  kill(children_of(program.pid()).at(2), SIGKILL);
  const std::string hint = "to bring it back: ";
  ASSERT_TRUE(program.wait_until(
      [&] {
        const auto at = program.out().find(hint);
        return at != std::string::npos && program.out().find('\n', at) != std::string::npos;
      },
      kPatience));
  const std::string line = program.out().substr(program.out().find(hint) + hint.size());
  Program returned("/bin/sh", {"-c", "exec " + line.substr(0, line.find('\n'))});
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(returned.wait(kPatience).code, 0) << returned.err();
  EXPECT_EQ(result.code, 8) << result.out << result.err;
  const auto summary = summary_of(run());
  EXPECT_EQ(summary["lost_ranks"], nlohmann::json::array());
  EXPECT_EQ(summary["restarted_ranks"], nlohmann::json({2}));
  EXPECT_TRUE(summary["test_accuracy"]["workers"][2].is_number());
  EXPECT_LT(summary["consensus_distance"], 0.05);
}

TEST_F(TrainTest, TwoRunsAtOnceNeverMeet) {
  Program first(FAST_PROGRAM, wishes("ring:2", "100", "first"));
  Program second(FAST_PROGRAM, wishes("torus:2x2", "100", "second"));
  EXPECT_EQ(first.wait(kPatience).code, 0) << first.out() << first.err();
  EXPECT_EQ(second.wait(kPatience).code, 0) << second.out() << second.err();
  EXPECT_NE(summary_of(run("first"))["run_id"], summary_of(run("second"))["run_id"]);
}

TEST_F(TrainTest, TwoLaunchersNeverShareAFolder) {
  Program first(FAST_PROGRAM, wishes("ring:2", "100000"));
  ASSERT_TRUE(first.wait_until([&] { return all_train(run(), 2); }, kPatience)) << first.err();
  std::vector<std::string> same = wishes("ring:2", "400");
  same.push_back("--overwrite");
  const ProgramResult second = run_program(FAST_PROGRAM, same, {}, kPatience);
  EXPECT_EQ(second.code, 4);
  EXPECT_THAT(second.err, HasSubstr("another run"));
  first.signal(SIGINT);
  EXPECT_EQ(first.wait(kPatience).code, 130);
}

TEST_F(TrainTest, QuietLeavesTheResultAlone) {
  std::vector<std::string> quiet = wishes("ring:2", "40");
  quiet.push_back("--quiet");
  const ProgramResult result = run_program(FAST_PROGRAM, quiet, {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("mean model"), ::testing::Not(HasSubstr("finished"))));
}

TEST_F(TrainTest, ARunThatHasLearntNothingSaysSoAtItsEnd) {
  std::vector<std::string> arguments = wishes("ring:2", "4");
  for (const char* const more : {"--data", "synthetic:2000,500", "--lr", "1e-12"}) {
    arguments.emplace_back(more);
  }
  const ProgramResult result = run_program(FAST_PROGRAM, arguments, {}, kPatience);
  EXPECT_EQ(result.code, 12) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("the mean model has learnt nothing"));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("worker 0: the model has learnt nothing: "), HasSubstr("no good")));
  EXPECT_THAT(summary_of(run())["not_learnt"].get<std::string>(), HasSubstr("chance"));
  const ProgramResult again = run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience);
  EXPECT_EQ(again.code, 12) << again.err;
}

TEST_F(TrainTest, ArraysOfOnesOwnAreLearnt) {
  write_npy(folder_.path(), 2000, 500, 12);
  std::vector<std::string> arguments = wishes("ring:2", "5");
  for (const std::string& more : {std::string("--data"), "npy:" + folder_.path().string()}) {
    arguments.push_back(more);
  }
  const ProgramResult result = run_program(FAST_PROGRAM, arguments, {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_GT(summary_of(run())["test_accuracy"]["mean_model"].get<double>(), 0.9);
  fs::remove(folder_.path() / "test-y.npy");
  const ProgramResult gone = run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience);
  EXPECT_THAT(gone.out + gone.err, HasSubstr("test-y.npy"));
}

}  // namespace
}  // namespace fast::testing
