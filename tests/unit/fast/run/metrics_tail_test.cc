#include "fast/run/metrics_tail.h"

#include <gtest/gtest.h>

#include <string>

#include "fast/run/metrics_json.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

class Tail : public ReportTest {
 protected:
  std::filesystem::path file_ = folder_ / "metrics.jsonl";
};

TEST_F(Tail, TheTailSeesWholeLinesAsTheyCome) {
  MetricsTail tail(file_);
  EXPECT_TRUE(tail.poll().empty());
  EXPECT_FALSE(tail.start().has_value());

  append(file_, to_metrics_line(start(3)) + "\n");
  const std::string line = to_metrics_line(progress(1, 100)) + "\n";
  append(file_, line.substr(0, 30));
  EXPECT_TRUE(tail.poll().empty());
  EXPECT_EQ(tail.start()->rank, 3);
  EXPECT_FALSE(tail.progress().has_value());

  append(file_, line.substr(30) + to_metrics_line(progress(2, 200)) + "\n" +
                    to_metrics_line(WorkerHistory::Event{2, "suspect", "1"}) + "\n");
  const auto events = tail.poll();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event, "suspect");
  EXPECT_EQ(tail.progress()->samples, 200u);
  EXPECT_TRUE(tail.poll().empty());

  append(file_, to_metrics_line(WorkerEnd{3, 0, "done", {}}) + "\n");
  EXPECT_TRUE(tail.poll().empty());
  EXPECT_EQ(tail.end()->text, "done");
  EXPECT_EQ(tail.unreadable_lines(), 0);
}

TEST_F(Tail, TheTailForgetsTheEarlierLifeOfARestartedWorker) {
  MetricsTail tail(file_);
  append(file_, to_metrics_line(start(3)) + "\n" + to_metrics_line(progress(9, 900)) +
                    "\nrubbish\n" + to_metrics_line(WorkerEnd{9, 1, "", {}}) + "\n");
  (void)tail.poll();
  EXPECT_TRUE(tail.end().has_value());
  EXPECT_EQ(tail.unreadable_lines(), 1);
  append(file_, to_metrics_line(start(3)) + "\n");
  (void)tail.poll();
  EXPECT_EQ(tail.starts(), 2);
  EXPECT_FALSE(tail.end().has_value());
  EXPECT_FALSE(tail.progress().has_value());
}

TEST_F(Tail, TheTailBeginsAgainWhereTheFileWasReplaced) {
  MetricsTail tail(file_);
  append(file_, to_metrics_line(start(3)) + "\n" + to_metrics_line(progress(9, 900)) + "\n");
  (void)tail.poll();
  write_atomically(file_, to_metrics_line(start(1)) + "\n");
  (void)tail.poll();
  EXPECT_EQ(tail.start()->rank, 1);
  EXPECT_EQ(tail.starts(), 1);
  EXPECT_FALSE(tail.progress().has_value());
}

}  // namespace
}  // namespace fast
