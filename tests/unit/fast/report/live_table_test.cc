#include "fast/report/live_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "fast/report/format.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ResultOf;

WorkerView running(double progress, std::uint64_t samples, double loss = 1) {
  WorkerProgress p;
  p.time = 10;
  p.progress = progress;
  p.samples = samples;
  p.samples_per_second = 400;
  p.loss = loss;
  p.accuracy = 0.5;
  p.state = "training";
  p.neighbours = {{1, "up", 3, 100, 2, 0.25}, {3, "suspect", 1, 100, 2, 12.4}, {5, "gone"}};
  WorkerView view;
  view.progress = p;
  view.process = WorkerView::Process::kRunning;
  return view;
}

WorkerView ended(int code) {
  WorkerView view = running(0.5, 100);
  view.process = WorkerView::Process::kExited;
  view.exit_code = code;
  return view;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(LiveTableTest, TheNetworkIsAddedUpFromItsWorkers) {
  const NetworkView view = network_view({running(0.4, 1000, 1), running(0.6, 3000, 3), {}});
  EXPECT_EQ(view.running, 2);
  EXPECT_DOUBLE_EQ(view.progress, 0.5);
  EXPECT_DOUBLE_EQ(view.samples, 4000);
  EXPECT_DOUBLE_EQ(view.samples_per_second, 800);
  EXPECT_DOUBLE_EQ(view.loss, 2);
  EXPECT_DOUBLE_EQ(view.eta, 10);
}

TEST(LiveTableTest, TheShareOfAFailedWorkerIsSaidToCountAsMade) {
  const std::vector<WorkerView> workers = {running(1, 1000), ended(137), ended(0)};
  EXPECT_EQ(network_view(workers).failed, 1);
  EXPECT_THAT(render_line(1, workers),
              HasSubstr("2 ended, 1 with an error, whose share counts as made"));
  EXPECT_THAT(joined(render_table(workers, {.width = 200})),
              HasSubstr("2 ended, 1 with an error, whose share counts as made"));
  EXPECT_THAT(render_line(1, {running(1, 1000), ended(0)}), Not(HasSubstr("counts as made")));
}

TEST(LiveTableTest, TheMeanOnTheTestSetIsShownOnceItIsKnown) {
  std::vector<WorkerView> workers = {running(0.4, 1000), running(0.4, 1000), {}};
  EXPECT_THAT(render_line(1, workers), Not(HasSubstr("test")));
  workers[0].progress->means = {{"test_accuracy", 0.5}, {"test_loss", 3}};
  workers[1].progress->means = {{"test_accuracy", 0.7}};
  EXPECT_THAT(render_line(1, workers), HasSubstr("loss 1.0000  test 60.0 %"));
  EXPECT_THAT(joined(render_table(workers, {.width = 200})), HasSubstr("test 60.0 %"));
  workers[0].progress->means = {{"test_loss", 3}};
  workers[1].progress->means = {};
  EXPECT_THAT(render_line(1, workers), HasSubstr("test loss 3.0000"));
}

TEST(LiveTableTest, NothingKnownIsNoNumber) {
  const NetworkView view = network_view({{}, {}});
  EXPECT_EQ(view.eta, -1);
  EXPECT_TRUE(std::isnan(view.loss));
  EXPECT_THAT(render_line(0, {}), AllOf(HasSubstr("loss -"), Not(HasSubstr("nan"))));
}

TEST(LiveTableTest, AKilledWorkersProgressDoesNotHoldTheNetworkBack) {
  WorkerView dead = ended(137);
  dead.progress->progress = 0.1;
  const NetworkView view = network_view({running(0.8, 10), dead});
  EXPECT_DOUBLE_EQ(view.progress, 0.8);
  EXPECT_EQ(view.exited, 1);
  EXPECT_DOUBLE_EQ(view.samples, 110);
}

TEST(LiveTableTest, ARunThatWasStoppedKeepsItsProgress) {
  WorkerView stopped = ended(130);
  stopped.progress->progress = 0.2;
  EXPECT_DOUBLE_EQ(network_view({stopped}).progress, 0.2);
}

TEST(LiveTableTest, ARowShowsEachNeighbour) {
  ScreenStyle style;
  style.width = 120;
  const std::string plain = joined(render_table({running(0.5, 1000)}, style));
  EXPECT_THAT(plain, AllOf(HasSubstr("+1 0.2s"), HasSubstr("?3 12s"), HasSubstr("x5 -"),
                           HasSubstr("training"), HasSubstr("50.0 %"), Not(HasSubstr("\x1b"))));
  style.unicode = style.colour = true;
  EXPECT_THAT(joined(render_table({running(0.5, 1000)}, style)),
              AllOf(HasSubstr("●"), HasSubstr("◐"), HasSubstr("✕"), HasSubstr("\x1b[")));
}

TEST(LiveTableTest, ANeighbourOfAnotherGridIsMarked) {
  WorkerView view = running(0.5, 1000);
  view.progress->neighbours[1].other_grid = true;
  ScreenStyle style;
  style.width = 120;
  EXPECT_THAT(joined(render_table({view}, style)),
              AllOf(HasSubstr("+1 0.2s"), HasSubstr("?3! 12s")));
  style.unicode = true;
  EXPECT_THAT(joined(render_table({view}, style)), HasSubstr("3≠ 12s"));
}

TEST(LiveTableTest, ProcessesThatEndedSaySo) {
  const std::string text = joined(render_table({ended(0), ended(137), {}}, {}));
  EXPECT_THAT(text, AllOf(HasSubstr("done"), HasSubstr("exit 137"), HasSubstr("starting")));
}

TEST(LiveTableTest, NoLineIsWiderThanTheTerminal) {
  for (const bool decorated : {false, true}) {
    for (const int width : {1, 10, 40, 80, 200}) {
      ScreenStyle style;
      style.unicode = style.colour = decorated;
      style.width = width;
      EXPECT_THAT(render_table({running(0.5, 1), ended(1), {}}, style),
                  Each(ResultOf(format::width,
                                ::testing::Lt(static_cast<std::size_t>(std::max(width, 2))))));
    }
  }
}

TEST(LiveTableTest, ManyWorkersAreCutToTheTerminal) {
  std::vector<WorkerView> workers(100, running(0.5, 10));
  workers.back() = ended(1);
  ScreenStyle style;
  for (const int height : {1, 2, 3, 4, 5, 24, 101, 102, 103, 200}) {
    style.height = height;
    const auto lines = render_table(workers, style);
    EXPECT_LE(lines.size(), static_cast<std::size_t>(std::max(height - 1, 2))) << height;
    if (height < 103) {
      EXPECT_THAT(lines.back(), AllOf(HasSubstr("more"), HasSubstr("1 of them failed")));
    } else {
      EXPECT_THAT(lines.back(), Not(HasSubstr("more")));
    }
  }
  style.height = 24;
  EXPECT_THAT(render_table(workers, style).back(), HasSubstr("... and 80 more"));
}

TEST(LiveTableTest, ATerminalIsRedrawnInPlace) {
  std::ostringstream out;
  ScreenStyle style;
  style.is_terminal = true;
  LiveTable table(out, style);
  table.update(1, {running(0.1, 10)});
  EXPECT_THAT(out.str(), Not(HasSubstr("A\r")));
  out.str("");
  table.update(2, {running(0.2, 20)});
  EXPECT_THAT(out.str(), HasSubstr("\x1b[3A\r"));
  out.str("");
  table.say("worker 2 died");
  EXPECT_THAT(out.str(), HasSubstr("\x1b[3A\r\x1b[Jworker 2 died\n"));
  out.str("");
  table.finish(3, {running(1, 30)});
  table.say("after the end");
  EXPECT_THAT(out.str(), ::testing::EndsWith("after the end\n"));
}

TEST(LiveTableTest, ElsewhereThereIsALineNowAndThen) {
  std::ostringstream out;
  LiveTable table(out, {});
  for (int second = 0; second <= 11; ++second) table.update(second, {running(0.5, 10)});
  table.say("worker 2 died");
  table.finish(11.5, {running(1, 10)});
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);  // at 0, 5, 10; the message; the end
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fast
