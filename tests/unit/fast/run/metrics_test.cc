#include "fast/run/metrics.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "fast/errors.h"
#include "fast/run/metrics_json.h"
#include "fast/run/metrics_tail.h"
#include "fast/run/thinning.h"
#include "fast/run/totals.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class Metrics : public ReportTest {
 protected:
  std::filesystem::path file_ = folder_ / "metrics.jsonl";
};

TEST_F(Metrics, WhatIsWrittenIsReadBack) {
  {
    MetricsWriter writer(file_);
    writer.start(start(2));
    WorkerProgress p = progress(1.5, 300);
    p.test_accuracy = 0.75;
    p.said = {{"f1", 0.5}};
    p.means = {{"f1", 0.25}, {"loss", 2}};
    writer.progress(p);
    writer.event(1.6, "suspect", "worker \"1\"\nis silent");
    writer.end({2.5, 7, "loss is NaN", {{"frames", 12}, {"relinks", 0}}});
    EXPECT_FALSE(writer.behind());
  }
  const WorkerHistory h = read_metrics(file_);
  EXPECT_EQ(h.starts, 1);
  EXPECT_EQ(h.unreadable_lines, 0);
  EXPECT_EQ(h.start.rank, 2);
  EXPECT_EQ(h.start.topology, "ring:4");
  EXPECT_EQ(h.start.run_id, "test-run");
  EXPECT_EQ(h.start.budget, 4000u);
  ASSERT_EQ(h.progress.size(), 1u);
  EXPECT_EQ(h.progress[0].samples, 300u);
  EXPECT_DOUBLE_EQ(h.progress[0].loss, 0.8);
  EXPECT_EQ(h.progress[0].test_accuracy, 0.75);
  EXPECT_FALSE(h.progress[0].test_loss.has_value());
  EXPECT_EQ(h.progress[0].said, (std::map<std::string, double>{{"f1", 0.5}}));
  EXPECT_EQ(h.progress[0].means, (std::map<std::string, double>{{"f1", 0.25}, {"loss", 2}}));
  ASSERT_EQ(h.progress[0].neighbours.size(), 1u);
  EXPECT_EQ(h.progress[0].neighbours[0].link, "up");
  EXPECT_EQ(h.progress[0].neighbours[0].bytes, 3000u);
  ASSERT_EQ(h.events.size(), 1u);
  EXPECT_EQ(h.events[0].text, "worker \"1\"\nis silent");
  ASSERT_TRUE(h.end.has_value());
  EXPECT_EQ(h.end->exit_code, 7);
  EXPECT_EQ(h.end->counters.at("frames"), 12u);
}

TEST_F(Metrics, ATornLastLineIsCountedAndPassedOver) {
  MetricsWriter(file_).start(start(0));
  append(file_, to_metrics_line(progress(1, 100)) + "\n");
  append(file_, to_metrics_line(progress(2, 200)).substr(0, 40));
  const WorkerHistory h = read_metrics(file_);
  EXPECT_EQ(h.progress.size(), 1u);
  EXPECT_EQ(h.unreadable_lines, 1);
  EXPECT_FALSE(h.end.has_value());
}

TEST_F(Metrics, ARestartedWorkerDoesNotGlueItsFirstLineToATornOne) {
  MetricsWriter(file_).start(start(0, 4, 1000));
  append(file_, to_metrics_line(progress(5, 100)) + "\n{\"kind\":\"prog");
  MetricsWriter again(file_);
  again.start(start(0, 4, 1030));
  again.progress(progress(2, 50));
  again.end({3, 0, "done", {}});
  const WorkerHistory h = read_metrics(file_);
  EXPECT_EQ(h.starts, 2);
  EXPECT_EQ(h.unreadable_lines, 1);
  ASSERT_EQ(h.progress.size(), 2u);
  EXPECT_DOUBLE_EQ(h.progress[0].time, 5);
  EXPECT_DOUBLE_EQ(h.progress[1].time, 7);  // 5 s of the first life, and 2
  ASSERT_EQ(h.lives.size(), 2u);
  EXPECT_EQ(h.lives[1].first_progress, 1u);
  EXPECT_DOUBLE_EQ(h.lives[1].time, 5);
  ASSERT_TRUE(h.end.has_value());
  EXPECT_DOUBLE_EQ(h.end->time, 8);
}

TEST_F(Metrics, WhoeverEndedAsMeantWasResumedAndNotStartedAgain) {
  const auto lives = [this](std::optional<int> exit_code) {
    std::string text = to_metrics_line(start(0)) + "\n" + to_metrics_line(progress(5, 100)) + "\n";
    if (exit_code) text += to_metrics_line(WorkerEnd{6, *exit_code, "", {}}) + "\n";
    WorkerStart second = start(0);
    second.resumed = true;
    return parse_metrics(text + to_metrics_line(second) + "\n");
  };
  for (const int as_meant : {0, 130}) {
    EXPECT_EQ(lives(as_meant).starts, 2);
    EXPECT_EQ(lives(as_meant).restarts(), 0);
    EXPECT_TRUE(lives(as_meant).lives.at(1).resumed);
  }
  EXPECT_EQ(lives(1).restarts(), 1);
  EXPECT_EQ(lives(std::nullopt).restarts(), 1);
}

TEST_F(Metrics, ARunThatIsResumedForLongerHasTheLongerBudget) {
  WorkerStart second = start(0);
  second.resumed = true;
  second.budget = 9000;
  second.epochs = 9;
  const WorkerHistory history =
      parse_metrics(to_metrics_line(start(0)) + "\n" + to_metrics_line(WorkerEnd{6, 0, "", {}}) +
                    "\n" + to_metrics_line(second) + "\n");
  EXPECT_EQ(history.start.budget, 9000U);
  EXPECT_EQ(history.start.epochs, 9);
}

TEST_F(Metrics, TheEndOfAnEarlierLifeIsNotTheEndOfALaterOne) {
  MetricsWriter writer(file_);
  writer.start(start(0, 4, 1000));
  writer.end({3, 7, "NaN", {}});
  writer.start(start(0, 4, 1010));
  writer.progress(progress(1, 10));
  EXPECT_FALSE(read_metrics(file_).end.has_value());
}

TEST_F(Metrics, TimeIsThatOfTheLivesWhateverTheWallClockSays) {
  constexpr double kYear = 365.0 * 24 * 3600;
  for (const double second : {-1000.0, 900.0, 1000 + kYear}) {
    std::filesystem::remove(file_);
    MetricsWriter writer(file_);
    writer.start(start(0, 4, 1000));
    writer.progress(progress(50, 10));
    writer.start(start(0, 4, second));
    writer.progress(progress(1, 10));
    EXPECT_DOUBLE_EQ(read_metrics(file_).progress.at(1).time, 51) << second;
  }
}

/// A limit of file sizes, as a disk that is full for a while.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t size) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = size, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(Metrics, AFullDiskCostsNoLine) {
  MetricsWriter writer(file_);
  writer.start(start(0));
  {
    const FullDisk full(std::filesystem::file_size(file_) + 10);  // a line is torn
    for (int i = 1; i <= 20; ++i) writer.progress(progress(i, 10));
    writer.event(20, "suspect", "neighbour 1 is silent");
    EXPECT_TRUE(writer.behind());
  }
  writer.end({21, 0, "", {}});
  EXPECT_FALSE(writer.behind());
  const WorkerHistory h = read_metrics(file_);
  EXPECT_EQ(h.unreadable_lines, 0);
  EXPECT_EQ(h.progress.size(), 20U);
  EXPECT_EQ(h.events.size(), 1U);
  EXPECT_TRUE(h.end);
}

TEST_F(Metrics, WhatWaitsForADiskHasABound) {
  MetricsWriter writer(file_);
  writer.start(start(0));
  {
    const FullDisk full(std::filesystem::file_size(file_));
    for (int i = 1; i <= 5000; ++i) writer.progress(progress(i, static_cast<unsigned>(i)));
  }
  writer.end({5001, 0, "", {}});
  const WorkerHistory h = read_metrics(file_);
  EXPECT_LT(h.progress.size(), 1000U);
  EXPECT_EQ(h.progress.back().samples, 5000U) << "the newest, which hold the sums";
  EXPECT_TRUE(h.end);
}

TEST_F(Metrics, NumbersThatAreNotFiniteSurvive) {
  WorkerProgress p = progress(1, 10);
  p.loss = std::numeric_limits<double>::quiet_NaN();
  p.network_loss = std::numeric_limits<double>::infinity();
  const std::string line = to_metrics_line(p);
  EXPECT_THAT(line, HasSubstr("\"loss\":null"));
  const auto parsed = parse_metrics_line(line);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(std::isnan(std::get<WorkerProgress>(*parsed).loss));
  EXPECT_TRUE(std::isnan(std::get<WorkerProgress>(*parsed).network_loss));
}

TEST_F(Metrics, TextThatIsNoUtf8IsMendedNotThrown) {
  const std::string line = to_metrics_line(WorkerHistory::Event{1, "note", "\xff\xfe!"});
  const auto parsed = parse_metrics_line(line);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_THAT(std::get<WorkerHistory::Event>(*parsed).text, HasSubstr("!"));
}

TEST_F(Metrics, FieldsOfWrongTypesMakeALineUnreadable) {
  for (const char* line :
       {R"({"kind":"progress","step":-1})", R"({"kind":"progress","samples":1.5})",
        R"({"kind":"progress","state":3})", R"({"kind":"progress","neighbours":{}})",
        R"({"kind":"progress","neighbours":[3]})", R"({"kind":"start"})",
        R"({"kind":"start","rank":-1})", R"({"kind":"start","rank":99999999999})",
        R"({"kind":"end","exit_code":18446744073709551615})", R"({"kind":"unheard of"})", "[]", "3",
        "", "{"}) {
    EXPECT_FALSE(parse_metrics_line(line).has_value()) << line;
  }
}

TEST_F(Metrics, AMissingFileAndAFileWithoutStartAreNamed) {
  try {
    (void)read_metrics(folder_ / "nowhere");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nowhere"));
  }
  append(file_, "{\"kind\":\"start\",\"ra");
  EXPECT_THROW((void)read_metrics(file_), FileError);
  EXPECT_THROW(MetricsWriter(folder_ / "no" / "such" / "folder"), FileError);
}

TEST_F(Metrics, ALongFileIsThinnedAndTheTailDoesNotMind) {
  MetricsTail tail(file_);
  MetricsWriter writer(file_);
  writer.start(start(3));
  writer.event(0.5, "suspect", "neighbour 1");
  EXPECT_EQ(tail.poll().size(), 1U);
  constexpr std::size_t kLines = 5 * kMostProgressLines;
  std::uintmax_t largest = 0;
  for (std::size_t i = 1; i <= kLines; ++i) {
    writer.progress(progress(static_cast<double>(i), 10 * i));
    if (i % 512 != 0) continue;
    largest = std::max(largest, std::filesystem::file_size(file_));
    EXPECT_TRUE(tail.poll().empty()) << "told again";
  }
  writer.event(1e6, "up", "neighbour 1");
  EXPECT_LT(largest, (kMostProgressLines + 2) * 600);
  EXPECT_EQ(tail.poll().size(), 1U);
  EXPECT_EQ(tail.starts(), 1);
  EXPECT_EQ(tail.progress()->samples, 10 * kLines);

  const WorkerHistory history = read_metrics(file_);
  EXPECT_EQ(history.events.size(), 2U);
  EXPECT_EQ(history.progress.back().samples, 10 * kLines);
  EXPECT_EQ(history.progress.front().samples, 10U);
  EXPECT_LE(history.progress.size(), kMostProgressLines);
  for (std::size_t i = 1; i < history.progress.size(); ++i) {
    EXPECT_LE(history.progress[i].time - history.progress[i - 1].time, 30) << "a hole";
  }
}

TEST_F(Metrics, TheLastLineOfEachLifeOutlastsThinning) {
  std::string text;
  for (int life = 0; life < 3; ++life) {
    text += to_metrics_line(start(3)) + "\n";
    const int lines = 3000 + life;
    for (int i = 1; i <= lines; ++i) text += to_metrics_line(progress(i, 100 * i)) + "\n";
    text += to_metrics_line(WorkerHistory::Event{9, "x", ""}) + "\n";
  }
  const WorkerHistory before = parse_metrics(text), after = parse_metrics(thinned(text));
  EXPECT_LT(after.progress.size(), before.progress.size());
  EXPECT_EQ(totals_of(after).samples, totals_of(before).samples);
  EXPECT_EQ(after.events.size(), 3U);
  WorkerHistory thin_one = before;
  thin(thin_one);
  EXPECT_LT(thin_one.progress.size(), before.progress.size());
  EXPECT_EQ(totals_of(thin_one).samples, totals_of(before).samples);
}

TEST_F(Metrics, AHistoryOfDaysIsReadInLittleMemory) {
  {
    std::ofstream out(file_, std::ios::binary);
    out << to_metrics_line(start(3)) << "\n";
    for (std::size_t i = 1; i <= 5 * kMostProgressLines; ++i) {
      out << to_metrics_line(progress(static_cast<double>(i), 10 * i)) << "\n";
    }
  }
  const WorkerHistory history = read_metrics(file_);
  EXPECT_LE(history.progress.size(), kMostProgressLines);
  EXPECT_EQ(history.progress.back().samples, 50 * kMostProgressLines);
}

TEST_F(Metrics, AnotherRunInTheSameFileMakesTheEarlierAnOlderOne) {
  const auto two = [](WorkerStart second, int exit_code) {
    return parse_metrics(to_metrics_line(start(3)) + "\n" + to_metrics_line(progress(9, 900)) +
                         "\n" + to_metrics_line(WorkerEnd{9, exit_code, "", {}}) + "\n" +
                         to_metrics_line(second) + "\n" + to_metrics_line(progress(1, 100)) + "\n");
  };
  WorkerStart again = start(3);
  EXPECT_EQ(two(again, 1).starts, 2) << "it was started again";
  const WorkerHistory other = two(again, 0);
  EXPECT_EQ(other.starts, 1);
  EXPECT_EQ(other.older_runs, 1);
  ASSERT_EQ(other.progress.size(), 1U);
  EXPECT_EQ(other.progress[0].samples, 100U);
  again.resumed = true;
  EXPECT_EQ(two(again, 0).starts, 2);
  again.resumed = false;
  again.fresh = true;
  EXPECT_EQ(two(again, 1).older_runs, 1);
  again.fresh = false;
  again.run_id = "another";
  EXPECT_EQ(two(again, 1).older_runs, 1);
}

}  // namespace
}  // namespace fast
