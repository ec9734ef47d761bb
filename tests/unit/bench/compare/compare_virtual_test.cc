// Whole cells under the virtual clock: budgets, times, and that they repeat.
#include "bench/compare/virtual/virtual_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/compare/spec.h"
#include "bench/compare/virtual/rounds.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/virtual_cell.h"

namespace fast::compare {
namespace {

class VirtualRun : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Cell cell() {
    Cell cell = virtual_cell("linear", "synthetic:2112,500", 64);
    cell.clockwork = {.step_seconds = 0.01, .latency = 0.0005, .rate_mbit = 1000};
    cell.strategy.name = GetParam();
    cell.strategy.learning_rate = 0.02;
    cell.strategy.exchange = stencil::bare_exchange();
    if (const std::string mode = cell.strategy.mode(); !mode.empty()) {
      cell.strategy.exchange.mode = mode;
      cell.strategy.exchange.sweeps = 1;
    }
    return cell;
  }
};

INSTANTIATE_TEST_SUITE_P(Strategies, VirtualRun,
                         ::testing::Values("single", "local", "allreduce", "parameter-server",
                                           "parameter-server-sync", "stencil-sync", "stencil-async",
                                           "stencil-bounded:2"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST_P(VirtualRun, keeps_its_budget_learns_and_repeats) {
  const Cell one = cell();
  const Split split = load_split(one, {});
  const double budget = static_cast<double>(one.budget(split.training.train->size()));
  const CellResult result = run_virtually(one, split, {});
  const bool waits = goes_by_rounds(one.strategy);
  const double round = one.workers() * one.job.batch;
  EXPECT_GE(result.samples, budget);
  EXPECT_LT(result.samples, waits ? budget + round : 1.01 * budget + round);
  ASSERT_EQ(result.curve.size(), 10U);
  EXPECT_GT(*result.mean_model, 0.13) << "ten classes by chance: 0.1";
  EXPECT_EQ(result.curve.back().samples, result.samples);
  EXPECT_GT(result.training_seconds, 0);

  const CellResult again = run_virtually(one, split, {});
  EXPECT_EQ(again.mean_model, result.mean_model);
  EXPECT_EQ(again.training_seconds, result.training_seconds);
  EXPECT_EQ(again.bytes, result.bytes);
}

TEST_P(VirtualRun, trains_what_takes_no_images) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "text";
  testing::Bytes text(16000);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = "forward "[i % 8];
  testing::write_bytes(file, text);
  Cell one = cell();
  one.job.model = "gpt:1,1,8";
  one.job.data = "text:" + file.string() + ",8";
  one.job.optimizer = "adamw";
  one.job.examples = 1600;
  one.job.epochs = 4;
  one.strategy.learning_rate = 0.02;
  const Split split = load_split(one, {});
  EXPECT_EQ(split.training.train->size() + split.validation.test->size(), 1600U);
  const CellResult result = run_virtually(one, split, {});
  EXPECT_GT(*result.mean_model, 0.3) << "a byte of 256 by chance: 0.004; a space always: 0.125";
  EXPECT_TRUE(std::isfinite(result.curve.back().loss));
}

TEST_P(VirtualRun, unseen_examples_judge_and_change_nothing_else) {
  Cell one = cell();
  one.job.epochs = 2;
  one.job.examples = 1600;
  const CellResult plain = run_virtually(one, load_split(one, {}), {});
  EXPECT_FALSE(plain.unseen);
  one.job.unseen = 500;
  const Split split = load_split(one, {});
  EXPECT_EQ(split.unseen.test->size(), 500U);
  const CellResult result = run_virtually(one, split, {});
  EXPECT_EQ(result.mean_model, plain.mean_model);
  EXPECT_EQ(result.curve.back().loss, plain.curve.back().loss);
  ASSERT_TRUE(result.unseen);
  EXPECT_EQ(result.unseen->examples, 500U);
  EXPECT_NEAR(result.unseen->accuracy, *plain.mean_model, 0.1) << "of one kind with the test set";
  EXPECT_GT(result.unseen->loss, 0);
  one.job.unseen = 513;
  EXPECT_THROW((void)load_split(one, {}), ConfigError) << "2112 - 1600 are left";
}

TEST_P(VirtualRun, a_slow_worker_costs_time_where_others_wait_for_it_alone) {
  const Cell one = cell();
  Cell slow = one;
  slow.condition.slow = {{1, 4.0}};
  if (one.strategy.name == "single") slow.condition.slow.clear();
  const Split split = load_split(one, {});
  const double stretched = run_virtually(slow, split, {}).training_seconds /
                           run_virtually(one, split, {}).training_seconds;
  const bool free = one.strategy.name == "stencil-async" || one.strategy.name == "single" ||
                    one.strategy.name == "parameter-server";
  // Three workers and a quarter of one do the work of four.
  if (free) {
    EXPECT_LT(stretched, 1.4);
  } else {
    EXPECT_GT(stretched, 2);
  }
}

/// The losses of the mean model in the second half of a run; in the first half workers get into
/// step.
std::vector<double> losses(const Cell& cell) {
  const CellResult result = run_virtually(cell, load_split(cell, {}), {});
  std::vector<double> out;
  for (std::size_t i = 5; i < result.curve.size(); ++i) out.push_back(result.curve[i].loss);
  return out;
}

/// Two turns bring four workers together (dimension exchange), so that each gradient is taken at
/// the mean, as all-reduce takes it, though nobody knows of more than two others.
TEST(InTurns, workers_in_step_on_a_hypercube_learn_what_all_reduce_does) {
  Cell cell = virtual_cell("linear", "synthetic:4160,64", 64);
  cell.condition.topology = "torus:2x2";
  cell.condition.jitter = 0.05;
  cell.strategy = usual_strategy("allreduce");
  cell.strategy.learning_rate = 0.02;
  const std::vector<double> rounds = losses(cell);
  cell.strategy = usual_strategy("stencil-async");
  cell.strategy.learning_rate = 0.02;
  cell.strategy.exchange.overlap = false;  // a step counts when it is made, as all-reduce's do
  const auto furthest = [&](double sweeps) {
    cell.strategy.exchange.sweeps = sweeps;
    const std::vector<double> async = losses(cell);
    double most = 0;
    for (std::size_t i = 0; i < async.size(); ++i) {
      most = std::max(most, std::abs(async[i] - rounds.at(i)));
    }
    return most;
  };
  // What momentum takes in adds up to nothing over workers in step, but not quite while they get
  // there.
  const double corrected = furthest(2);
  EXPECT_LT(corrected, 0.002);
  EXPECT_GT(furthest(1), 2 * corrected);
  cell.strategy.momentum_correction = 0;
  EXPECT_LT(furthest(2), 1e-5);
  EXPECT_GT(furthest(1), 1e-3);

  // Made in the backward pass, a step counts when its gradient is taken: ends alone compare.
  cell.strategy.exchange.overlap = true;
  cell.strategy.exchange.sweeps = 2;
  EXPECT_NEAR(losses(cell).back(), rounds.back(), 0.0005);
}

/// The correction of momentum is a part of the rule that is compared.
class MomentumInVirtualTime : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, MomentumInVirtualTime,
                         ::testing::Values("stencil-async", "stencil-bounded:2", "stencil-sync"));

TEST_P(MomentumInVirtualTime, takes_in_what_the_exchange_moves) {
  Cell cell = virtual_cell("linear", "synthetic:1088,64", 64);
  cell.job.epochs = 2;
  cell.condition.jitter = 0.05;
  cell.strategy = usual_strategy(GetParam());
  cell.strategy.learning_rate = 0.02;
  const std::vector<double> corrected = losses(cell);
  cell.strategy.momentum_correction = 0;
  EXPECT_NE(losses(cell), corrected);
}

}  // namespace
}  // namespace fast::compare
