// What a worker leaves of its neighbours in metrics.jsonl.
#include "fast/session/recorder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/report_fixture.h"

namespace fast {
namespace {

/// Shows what the test says.
class Shown final : public Exchange {
 public:
  void join() override {}
  void exchange(const StepReport& /*report*/) override {}
  Agreement finish() override { return Agreement::kAgreed; }
  [[nodiscard]] double progress() const override { return 0.5; }
  [[nodiscard]] double network_loss() const override { return 1; }
  [[nodiscard]] SessionStatus status() const override { return seen; }
  SessionStatus seen;
};

class RecorderTest : public ReportTest {
 protected:
  std::filesystem::path file_ = folder_ / "metrics.jsonl";
};

TEST_F(RecorderTest, AGridThatBecomesAnotherIsAnEventOnceAndStandsInEachLine) {
  Shown exchange;
  exchange.seen.neighbours = {{.rank = 1}, {.rank = 2}};
  Recorder recorder(file_, start(0), 0, [](LogLevel, std::string_view) {});
  recorder.begin_training(exchange);
  exchange.seen.neighbours[1].other_grid = true;
  recorder.report(exchange);
  recorder.report(exchange);
  exchange.seen.neighbours[1].other_grid = false;
  recorder.report(exchange);

  const WorkerHistory history = read_metrics(file_);
  ASSERT_EQ(history.progress.size(), 4U);
  for (const std::size_t line : {0, 1, 2, 3}) {
    const auto& neighbours = history.progress[line].neighbours;
    ASSERT_EQ(neighbours.size(), 2U);
    EXPECT_FALSE(neighbours[0].other_grid);
    EXPECT_EQ(neighbours[1].other_grid, line == 1 || line == 2) << line;
  }
  ASSERT_EQ(history.events.size(), 2U);
  EXPECT_EQ(history.events[0].event, "grid");
  EXPECT_EQ(history.events[0].text, "the grid of neighbour 2 is another than this worker's");
  EXPECT_EQ(history.events[1].text, "the grid of neighbour 2 is this worker's again");
}

}  // namespace
}  // namespace fast
