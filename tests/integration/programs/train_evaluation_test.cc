// What `fast train` evaluates while it trains, keeps, and begins with.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "fast/run/safetensors.h"
#include "tests/support/npy_files.h"
#include "tests/support/process.h"
#include "tests/support/train_fixture.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(TrainTest, BeginsWithASavedModel) {
  ASSERT_EQ(run_program(FAST_PROGRAM, wishes("ring:2", "40", "first"), {}, kPatience).code, 0);
  const std::string saved = (run("first") / "mean.safetensors").string();
  const auto begun = [&](const std::string& name, const std::string& data) {
    std::vector<std::string> arguments = wishes("ring:2", "1", name);
    for (const std::string& more : {std::string("--init"), saved, std::string("--lr"),
                                    std::string("1e-12"), std::string("--data"), data}) {
      arguments.push_back(more);
    }
    return run_program(FAST_PROGRAM, arguments, {}, kPatience);
  };
  const ProgramResult second = begun("second", "synthetic:512,128");
  EXPECT_EQ(second.code, 0) << second.err;
  const auto accuracy = [&](const std::string& name) {
    return summary_of(run(name))["test_accuracy"]["mean_model"].get<double>();
  };
  EXPECT_EQ(accuracy("second"), accuracy("first"));
  write_npy(folder_.path(), 64, 10, 5);
  const ProgramResult other = begun("third", "npy:" + folder_.path().string());
  EXPECT_EQ(other.code, 4) << other.err;
  EXPECT_THAT(other.out + other.err,
              AllOf(HasSubstr("mean.safetensors is of another model"), HasSubstr("'fc.weight'")));
}

TEST_F(TrainTest, EvaluatesWhileItTrains) {
  std::vector<std::string> arguments = wishes("ring:2", "100");
  for (const char* const more : {"--evaluate-every", "0.25"}) arguments.emplace_back(more);
  const ProgramResult result = run_program(FAST_PROGRAM, arguments, {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  for (const int rank : {0, 1}) {
    std::vector<double> when;
    std::istringstream lines(
        read_text(run() / ("worker-" + std::to_string(rank)) / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto record = nlohmann::json::parse(line);
      if (!record.contains("test_accuracy")) continue;
      when.push_back(record["progress"]);
    }
    ASSERT_GE(when.size(), 2U) << "at the end, and before";
    EXPECT_LE(when.size(), 4U);
    EXPECT_LT(when.front(), 0.9);
    EXPECT_GT(when.back(), 0.99);
  }
}

/// `fast train` on a ring of two with these options more.
class EvaluationRun : public TrainTest {
 protected:
  ProgramResult train(const std::vector<std::string>& more, const std::string& epochs = "100") {
    std::vector<std::string> arguments = wishes("ring:2", epochs);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(FAST_PROGRAM, arguments, {}, kPatience);
  }
};

TEST_F(EvaluationRun, KeepsTheBestOfItsModelsAsTheirMean) {
  const ProgramResult result = train({"--evaluate-every", "0.1", "--keep-best"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("best while it trained"));
  const auto best = summary_of(run())["best"];
  EXPECT_EQ(best["ranks"], nlohmann::json({0, 1}));
  const double last = summary_of(run())["test_accuracy"]["mean_model"].get<double>();
  EXPECT_GT(best["accuracy"].get<double>(), last - 0.1);
  const SafetensorsFile file = SafetensorsFile::open(run() / "best.safetensors");
  EXPECT_EQ(file.metadata().at(kEvaluationKey), best["evaluation"]);
  EXPECT_FALSE(fs::exists(run() / "worker-0" / "best.next.safetensors"));
}

TEST_F(EvaluationRun, AllStopTogetherWhereNothingBecomesBetter) {
  const ProgramResult result =
      train({"--evaluate-every", "0.1", "--stop-when", "accuracy:2", "--lr", "1e-12"}, "200");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const auto summary = summary_of(run());
  EXPECT_LT(summary["samples"].get<double>(), 0.7 * summary["aim"].get<double>());
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0}));
  EXPECT_EQ(summary["short_ranks"], nlohmann::json::array());
  const std::string logs =
      read_text(run() / "worker-0" / "log.txt") + read_text(run() / "worker-1" / "log.txt");
  EXPECT_THAT(logs, AllOf(HasSubstr("ends the run for all workers"), HasSubstr("no better than"),
                          HasSubstr("--stop-when accuracy:2")));
}

TEST_F(EvaluationRun, ExamplesThatAreNotFiniteAndClassesThatLackAreNamed) {
  write_npy(folder_.path(), 200, 100, 12);
  {
    std::fstream x(folder_.path() / "train-x.npy", std::ios::in | std::ios::out | std::ios::binary);
    x.seekp(-4, std::ios::end);
    const float nan = std::nanf("");
    x.write(reinterpret_cast<const char*>(&nan), sizeof(nan));
  }
  const ProgramResult result =
      train({"--data", "npy:" + folder_.path().string(), "--partition", "by-label"}, "60");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  std::string logs;
  std::uint64_t left_out = 0;
  for (const int rank : {0, 1}) {
    logs += read_text(run() / ("worker-" + std::to_string(rank)) / "log.txt");
    const WorkerHistory history = read_metrics(RunFolder(run()).metrics(rank));
    left_out += history.end ? history.end->counters.at("examples_left_out") : 0;
    EXPECT_GE(std::ranges::count(history.events, "data", &WorkerHistory::Event::event), 1) << rank;
  }
  EXPECT_THAT(logs, AllOf(HasSubstr("of 1 of the 2 classes its shard has no example: 0"),
                          HasSubstr("of 1 of the 2 classes its shard has no example: 1"),
                          HasSubstr("example 199 of the training set holds NaN or infinity")));
  EXPECT_GE(left_out, 1U);
}

TEST_F(EvaluationRun, WhatNeedsAnEvaluationIsRefusedWithoutOne) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const ProgramResult result = train(more);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  refused({"--keep-best"}, "--keep-best without --evaluate-every");
  refused({"--stop-when", "loss:3"}, "--stop-when loss:3 without --evaluate-every");
  refused({"--evaluate-examples", "9"}, "--evaluate-examples 9 without --evaluate-every");
  refused({"--evaluate-every", "0.1", "--stop-when", "loss:3", "--mode", "sync"}, "lock step");
  refused({"--evaluate-every", "1.5"}, "a share of the run from 0 to 1");
  refused({"--evaluate-every", "5x"}, "90s, 5m or 1h");
  refused({"--evaluate-every", "0.1", "--stop-when", "losses:3"}, "METRIC:PATIENCE");
  refused({"--evaluate-every", "0.1", "--stop-when", "loss:0"}, "METRIC:PATIENCE");
}

}  // namespace
}  // namespace fast::testing
