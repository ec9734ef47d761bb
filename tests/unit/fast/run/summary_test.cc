#include "fast/run/summary.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fast/errors.h"
#include "fast/report/format.h"
#include "fast/report/print_summary.h"
#include "fast/report/report.h"
#include "fast/report/verdict.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SummaryTest : public ReportTest {
 protected:
  RunFolder run_{folder_ / "run"};
  std::vector<std::filesystem::path> dirs_{run_.root()};

  Summary report(const EvaluateFn& evaluate = {}, const std::map<int, int>& codes = {}) {
    return write_report(dirs_, run_.root(), evaluate, {.exit_codes = codes}).summary;
  }
};

TEST_F(SummaryTest, AWholeRunIsAddedUp) {
  write_worker(run_, 0, 2, 0.70, {3, 3});
  write_worker(run_, 1, 2, 0.72, {3, 5});
  const Summary s = report([](auto) { return MeanResult{0.73}; });
  EXPECT_EQ(s.workers, 2);
  EXPECT_EQ(s.topology, "ring:2");
  EXPECT_EQ(s.samples, 2000u);
  EXPECT_DOUBLE_EQ(s.wall_seconds, 13);      // whenever each began, by its own clock
  EXPECT_DOUBLE_EQ(s.training_seconds, 10);  // its last training line at 10
  EXPECT_NEAR(s.samples_per_second, 2000 / 10.0, 1e-9);
  EXPECT_EQ(s.test_accuracy.mean_model, 0.73);
  EXPECT_EQ(s.test_accuracy.worker_min, 0.70);
  EXPECT_EQ(s.test_accuracy.worker_max, 0.72);
  EXPECT_NEAR(*s.consensus_distance, 0.2, 1e-9);
  EXPECT_EQ(s.sweeps_completed, 20u);
  EXPECT_EQ(s.bytes_sent, 20000u);
  EXPECT_NEAR(s.exchange_share, 0.01, 1e-12);
  EXPECT_THAT(s.exit_codes, ElementsAre(0, 0));
  EXPECT_THAT(s.lost_ranks, IsEmpty());
  ASSERT_EQ(s.edges.size(), 1u);
  EXPECT_EQ(s.edges[0].sweeps, 20u);
  EXPECT_DOUBLE_EQ(s.edges[0].round_trip_ms, 1.5);
  EXPECT_EQ(s.model_file, "mean.safetensors");
}

TEST_F(SummaryTest, AMeasureOfTheMeanModelIsToldAndReadBack) {
  write_worker(run_, 0, 1, 0.70, {3, 3});
  const Summary s = report([](auto) {
    return MeanResult{.accuracy = 0.3, .loss = 2, .measure = {"perplexity", 7.389}};
  });
  EXPECT_THAT(verdict_of(s), HasSubstr("Its perplexity is 7.389."));
  std::ostringstream shown;
  print_summary(shown, s, run_.root());
  EXPECT_THAT(shown.str(), HasSubstr("30.00 % test accuracy, perplexity 7.389"));
  const Summary back = summary_from_json(to_json(s), "summary.json");
  EXPECT_EQ(back.test_measure.name, "perplexity");
  EXPECT_EQ(back.test_measure.value, 7.389);
}

TEST_F(SummaryTest, TheFileHasTheNamesAndTypesThatOthersReadBy) {
  write_worker(run_, 0, 2, 0.70, {1});
  const Summary s = report([](auto) { return MeanResult{0.73}; });
  const auto json = nlohmann::json::parse(read(run_.summary()));
  EXPECT_EQ(json["workers"], 2);
  EXPECT_EQ(json["topology"], "ring:2");
  EXPECT_EQ(json["mode"], "async");
  EXPECT_EQ(json["samples"], 1000);
  EXPECT_TRUE(json["wall_seconds"].is_number());
  EXPECT_TRUE(json["samples_per_second"].is_number());
  EXPECT_EQ(json["test_accuracy"]["mean_model"], 0.73);
  EXPECT_EQ(json["test_accuracy"]["worker_min"], 0.70);
  EXPECT_EQ(json["test_accuracy"]["workers"], nlohmann::json::parse("[0.7, null]"));
  EXPECT_EQ(json["consensus_distance"], 0);
  EXPECT_TRUE(json["sweeps_completed"].is_number_unsigned());
  EXPECT_TRUE(json["bytes_sent"].is_number_unsigned());
  EXPECT_TRUE(json["exchange_share"].is_number());
  EXPECT_EQ(json["exit_codes"], nlohmann::json::parse("[0, null]"));
  EXPECT_EQ(json["lost_ranks"], nlohmann::json::parse("[1]"));
  EXPECT_EQ(json["model_file"], "mean.safetensors");

  const Summary back = summary_from_json(read(run_.summary()), "summary.json");
  EXPECT_EQ(to_json(back), to_json(s));
}

TEST_F(SummaryTest, AKilledWorkerIsLostAndItsExitCodeIsTheLaunchers) {
  write_worker(run_, 0, 3, 0.70, {1});
  write_worker(run_, 1, 3, 0.71, {1});
  make_writable_folder(run_.worker(2));
  MetricsWriter killed(run_.metrics(2));
  killed.start(start(2, 3));
  killed.progress(progress(4, 300, 0));
  append(run_.metrics(2), "{\"kind\":\"progress\",\"ti");
  const Summary s = report({}, {{0, 0}, {1, 0}, {2, 137}});
  EXPECT_THAT(s.lost_ranks, ElementsAre(2));
  EXPECT_THAT(s.exit_codes, ElementsAre(0, 0, 137));
  EXPECT_EQ(s.samples, 2300u);
  EXPECT_FALSE(s.test_accuracy.workers[2].has_value());
  EXPECT_EQ(s.test_accuracy.worker_min, 0.70);
  EXPECT_FALSE(s.test_accuracy.mean_model.has_value());
  std::ostringstream text;
  print_summary(text, s, run_.root());
  EXPECT_THAT(text.str(), AllOf(ContainsRegex("lost [^w]+worker 2"), HasSubstr("worker 2: 137")));
}

TEST_F(SummaryTest, AWorkerThatCameBackAddsUpItsLivesAndIsNotLost) {
  write_worker(run_, 0, 2, 0.70, {1});
  make_writable_folder(run_.worker(1));
  {
    MetricsWriter first(run_.metrics(1));
    first.start(start(1, 2, 1000));
    first.progress(progress(4, 400, 0));
  }
  write_worker(run_, 1, 2, 0.71, {1});  // appends a second life, begun at 1001
  const Summary s = report({}, {{1, 137}});
  EXPECT_THAT(s.lost_ranks, IsEmpty());
  EXPECT_THAT(s.restarted_ranks, ElementsAre(1));
  EXPECT_THAT(s.restarts, ElementsAre(0, 1));
  EXPECT_THAT(s.exit_codes, ElementsAre(0, 0));  // the launcher saw the first life only
  EXPECT_EQ(s.samples, 2400u);
  EXPECT_EQ(s.bytes_sent, 24000u);
  std::ostringstream text;
  print_summary(text, s, run_.root());
  EXPECT_THAT(text.str(), HasSubstr("worker 1 (once)"));
}

TEST_F(SummaryTest, AWorkerThatDiedBeforeItsFirstLineWasStartedAgainAllTheSame) {
  write_worker(run_, 0, 2, 0.70, {1});
  write_worker(run_, 1, 2, 0.71, {1});
  const LaunchRecord seen{.exit_codes = {{0, 0}, {1, 0}}, .restarts = {{0, 0}, {1, 2}}};
  const Summary s = write_report(dirs_, run_.root(), {}, seen).summary;
  EXPECT_THAT(s.restarted_ranks, ElementsAre(1));
  EXPECT_THAT(s.restarts, ElementsAre(0, 2));
}

TEST_F(SummaryTest, WhatTheProgramMendsInTheMeanIsWhatIsSaved) {
  write_worker(run_, 0, 1, 0.70, {1, 2});
  (void)report([](std::span<const NamedTensor> mean) {
    for (const NamedTensor& tensor : mean) {
      const float statistics[] = {7, 8};
      if (tensor.name == "running") std::memcpy(tensor.bytes.data(), statistics, 8);
    }
    return MeanResult{0.5};
  });
  const SafetensorsFile file = SafetensorsFile::open(run_.mean());
  EXPECT_THAT(floats(file.find("running")->bytes), ElementsAre(7, 8));
  EXPECT_THAT(floats(file.find("weight")->bytes), ElementsAre(1, 2));
  EXPECT_EQ(file.metadata().at("mean_of_ranks"), "[0]");
}

TEST_F(SummaryTest, WithoutAnyModelAnOldMeanIsNotLeftLying) {
  write_worker(run_, 0, 2, 0.70, {1});
  (void)report();
  EXPECT_TRUE(std::filesystem::exists(run_.mean()));
  std::filesystem::remove(run_.worker_model(0));
  const Summary s = report([](auto) -> MeanResult { throw std::runtime_error("never called"); });
  EXPECT_EQ(s.model_file, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(run_.mean()));
  EXPECT_TRUE(std::filesystem::exists(run_.page()));
  EXPECT_TRUE(nlohmann::json::parse(read(run_.summary()))["model_file"].is_null());
}

TEST_F(SummaryTest, TheMeanIsSavedBeforeItIsJudged) {
  write_worker(run_, 0, 1, 0.70, {1});
  const auto judge = [this](auto) -> MeanResult {
    EXPECT_TRUE(std::filesystem::exists(run_.mean()));
    throw std::runtime_error("cut short");
  };
  EXPECT_THROW((void)report(judge), std::runtime_error);
  EXPECT_TRUE(std::filesystem::exists(run_.mean()));
}

TEST_F(SummaryTest, WithoutTheDataSetAllButTheAccuracyIsReported) {
  write_worker(run_, 0, 1, 0.70, {1});
  const Summary s =
      report([](auto) -> MeanResult { throw DataError("no data in /nowhere", "get it"); });
  EXPECT_THAT(s.not_evaluated, HasSubstr("/nowhere"));
  EXPECT_EQ(s.model_file, "mean.safetensors");
  EXPECT_TRUE(std::filesystem::exists(run_.page()));
  std::ostringstream text;
  print_summary(text, s, run_.root());
  EXPECT_THAT(text.str(), HasSubstr("not evaluated: no data in /nowhere"));
}

TEST_F(SummaryTest, ARunThatFellApartIsNamedEverywhere) {
  for (int rank = 0; rank < 2; ++rank) {
    write_worker(run_, rank, 2, 0.70, {static_cast<float>(rank)});
    MetricsWriter writer(run_.metrics(rank));
    WorkerProgress last = progress(14, 1000, 1 - rank);
    last.neighbours[0].link = "gone";
    writer.progress(last);
  }
  const Summary s = report();
  EXPECT_THAT(s.islands, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_FALSE(s.whole());
  EXPECT_EQ(SafetensorsFile::open(run_.mean()).metadata().at("mean_of_ranks"), "[0]");
  EXPECT_EQ(SafetensorsFile::open(run_.mean_of(1)).metadata().at("mean_of_ranks"), "[1]");
  std::ostringstream text;
  print_summary(text, s, run_.root());
  EXPECT_THAT(text.str(), HasSubstr("workers 0 and 1"));
  EXPECT_EQ(nlohmann::json::parse(read(run_.summary()))["islands"],
            nlohmann::json::parse("[[0], [1]]"));
  EXPECT_THAT(read(run_.page()), HasSubstr("\"islands\":[[0],[1]]"));
}

TEST_F(SummaryTest, ANonFiniteAccuracyIsNull) {
  write_worker(run_, 0, 1, 0.70, {1});
  (void)report([](auto) { return MeanResult{std::nan("")}; });
  const auto json = nlohmann::json::parse(read(run_.summary()));
  EXPECT_TRUE(json["test_accuracy"]["mean_model"].is_null());
}

TEST_F(SummaryTest, AForeignSummaryIsRefusedByName) {
  for (const char* text : {"", "[]", "{\"workers\": \"many\"}", "{\"edges\": [1]}",
                           "{\"test_accuracy\": 3}", "{\"exit_codes\": [1.5]}"}) {
    try {
      (void)summary_from_json(text, "theirs.json");
      FAIL() << text;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("theirs.json"));
    }
  }
}

TEST_F(SummaryTest, TheTableIsARectangleAndPlainWhereWanted) {
  write_worker(run_, 0, 1, 0.70, {1});
  const Summary s = report([](auto) { return MeanResult{0.7}; });
  for (const TableStyle style : {TableStyle{true, true}, TableStyle{false, false}}) {
    std::ostringstream text;
    print_summary(text, s, run_.root(), style);
    std::istringstream lines(text.str());
    std::string verdict;
    std::getline(lines, verdict);
    EXPECT_THAT(verdict, HasSubstr("use mean.safetensors"));
    std::size_t width = 0;
    for (std::string line; std::getline(lines, line);) {
      if (width == 0) width = format::width(line);
      EXPECT_EQ(format::width(line), width) << line;
    }
    EXPECT_THAT(text.str(), AllOf(HasSubstr("70.00 %"), HasSubstr(run_.mean().string()),
                                  HasSubstr(run_.page().string())));
    if (!style.unicode) {
      EXPECT_THAT(text.str(), Not(HasSubstr("\x1b")));
    }
  }
}

TEST_F(SummaryTest, TheTableFitsTheTerminal) {
  write_worker(run_, 0, 1, 0.70, {1});
  Summary s = report([](auto) { return MeanResult{0.7}; });
  s.left_out = {{0, "its file is damaged, which takes many words to say: " + std::string(90, 'x')}};
  for (const int width : {40, 60, 80, 120}) {
    std::ostringstream text;
    print_summary(text, s, run_.root(), {.unicode = true, .colour = false, .width = width});
    std::istringstream lines(text.str());
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(format::width(line), static_cast<std::size_t>(width)) << line;
      all += line;
    }
    EXPECT_GE(std::ranges::count(all, 'x'), 90) << "nothing is cut off";
  }
}

TEST(Format, NumbersReadWell) {
  EXPECT_EQ(format::count(0), "0");
  EXPECT_EQ(format::count(999), "999");
  EXPECT_EQ(format::count(1234567), "1,234,567");
  EXPECT_EQ(format::count(-1000), "-1,000");
  EXPECT_EQ(format::count(std::nan("")), "-");
  EXPECT_EQ(format::bytes(12), "12 B");
  EXPECT_EQ(format::bytes(44.7e6), "44.7 MB");
  EXPECT_EQ(format::bytes(999999), "1.0 MB");
  EXPECT_EQ(format::seconds(4.25), "4.2 s");
  EXPECT_EQ(format::seconds(185), "3m 05s");
  EXPECT_EQ(format::seconds(7620), "2h 07m");
  EXPECT_EQ(format::percent(0.713), "71.30 %");
  EXPECT_EQ(format::cut("äöü", 2), "äö");
  EXPECT_EQ(format::width("\x1b[31mä\x1b[0mb"), 2u);
  EXPECT_EQ(format::cut("\x1b[31mab\x1b[0m", 1), "\x1b[31ma\x1b[0m");
  EXPECT_EQ(format::left("ä", 3), "ä  ");
  EXPECT_EQ(format::right("ä", 3), "  ä");
}

}  // namespace
}  // namespace fast
