// How each strategy copes with a killed worker.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "bench/compare/cell_store.h"
#include "tests/integration/compare/real_run_fixture.h"

namespace fast::compare {
namespace {

using ::testing::HasSubstr;

/// Whether all four workers have taken a step.
bool all_step(const testing::RunWatch& run) {
  for (int rank = 0; rank < 4; ++rank) {
    if (run.step(rank) == 0) return false;
  }
  return true;
}

TEST_F(RealRun, a_killed_worker_ends_an_all_reduce_with_a_clear_error) {
  testing::Program program(FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"allreduce\"\n",
                                                           "epochs = 100000\n")));
  const testing::RunWatch run(folder_.path() / "out" / "runs" / hash([] {
                                Cell cell = cell_of("allreduce");
                                cell.strategy.learning_rate = 0.1;
                                cell.job.epochs = 100000;
                                return cell;
                              }()));
  ASSERT_TRUE(program.wait_until([&] { return all_step(run); }, kPatience)) << program.err();
  kill(testing::worker_pids(program.pid())[2], SIGKILL);
  const auto result = program.wait(kPatience);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("failed: "));
  EXPECT_THAT(result.out, HasSubstr("allreduce (1 of 1 failed)"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cells")) << "it will be made again";
  const WorkerHistory history = run.history(0);
  ASSERT_TRUE(history.end);
  EXPECT_EQ(history.end->exit_code, 10) << history.end->text;
  EXPECT_THAT(history.end->text, HasSubstr("a worker is gone"));
}

TEST_F(RealRun, a_killed_worker_ends_a_stencil_run_well) {
  const std::string spec =
      spec_of("[[strategy]]\nname = \"stencil-async\"\nlearning_rate = 0.001\n", "epochs = 150\n");
  const Cell cell = parse_spec(spec, "spec.toml").cells.front();
  testing::Program program(FAST_COMPARE, arguments(spec));
  const testing::RunWatch run(folder_.path() / "out" / "runs" / hash(cell));
  ASSERT_TRUE(program.wait_until([&] { return all_step(run); }, kPatience)) << program.err();
  kill(testing::worker_pids(program.pid())[2], SIGKILL);
  const auto result = program.wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("(1 worker lost)"));
  EXPECT_FALSE(CellStore(folder_.path() / "cells").find(cell)) << "it is not what the cell says";
  const auto all =
      nlohmann::json::parse(testing::read_text(folder_.path() / "out" / "results.json"));
  const auto& row = all["groups"][0]["rows"][0];
  EXPECT_EQ(row["curve"].size(), 10U) << "of those that were left";
  EXPECT_FALSE(row["accuracy"].is_null());
}

}  // namespace
}  // namespace fast::compare
