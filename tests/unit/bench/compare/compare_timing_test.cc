#include "bench/compare/virtual/timing.h"

#include <gtest/gtest.h>

#include "bench/compare/virtual/virtual_run.h"

namespace fast::compare {
namespace {

constexpr double kModel = 1e6;  // bytes

Cell cell_of(const std::string& strategy) {
  Cell cell;
  cell.strategy.name = strategy;
  cell.time = TimeKind::kVirtual;
  cell.condition.topology = "ring:4";
  cell.clockwork = {.step_seconds = 0.1, .latency = 0, .rate_mbit = 80};  // 10 MB/s
  return cell;
}

double seconds_of(const Cell& cell, int rounds) {
  RoundClock clock(cell, kModel);
  for (int i = 0; i < rounds; ++i) clock.tick();
  return clock.seconds();
}

TEST(RoundClock, local_workers_wait_for_nobody) {
  Cell cell = cell_of("local");
  EXPECT_NEAR(seconds_of(cell, 10), 1, 1e-9);
  cell.condition.slow = {{2, 4.0}};
  EXPECT_NEAR(seconds_of(cell, 10), 4, 1e-9) << "the last one counts";
}

TEST(RoundClock, an_all_reduce_hides_behind_the_backward_pass_and_no_further) {
  // 6 messages of a quarter: 0.15 s, of which 0.0667 s are hidden.
  EXPECT_NEAR(seconds_of(cell_of("allreduce"), 1), 0.1 + 0.15 - 0.2 / 3, 1e-9);
  Cell fast = cell_of("allreduce");
  fast.clockwork.rate_mbit = 8e6;
  EXPECT_NEAR(seconds_of(fast, 10), 1, 1e-9);
}

TEST(RoundClock, of_an_all_reduce_in_buckets_the_last_is_hidden_by_nothing) {
  Cell cell = cell_of("allreduce");
  cell.strategy.exchange.bucket_kib = 1024;  // one for all
  EXPECT_NEAR(seconds_of(cell, 10), 10 * (0.1 + 0.15), 1e-9);
  // 512,000, 488,000 bytes: 0.0768 and 0.0732 s, of which 0.488 of the backward pass hide some.
  cell.strategy.exchange.bucket_kib = 500;
  const double hidden = 0.2 / 3 * 0.488;
  EXPECT_NEAR(seconds_of(cell, 10), 10 * (0.1 - hidden + 0.15), 1e-9);
  // Small buckets on a fast link: the slowest worker and the last bucket determine the time.
  cell.strategy.exchange.bucket_kib = 10;
  cell.clockwork.rate_mbit = 800;
  cell.condition.slow = {{0, 2.0}};
  EXPECT_NEAR(seconds_of(cell, 1), 0.2 + 0.015 * (1e6 - 97 * 10240) / 1e6, 1e-9);
  cell.condition.topology = "ring:1";
  cell.condition.slow = {};
  EXPECT_NEAR(seconds_of(cell, 1), 0.1, 1e-9);
}

TEST(RoundClock, one_slow_worker_holds_up_every_all_reduce) {
  Cell cell = cell_of("allreduce");
  cell.clockwork.rate_mbit = 8e6;
  cell.condition.slow = {{0, 4.0}};
  EXPECT_NEAR(seconds_of(cell, 10), 4, 1e-9);
}

TEST(RoundClock, the_servers_link_carries_everything) {
  EXPECT_NEAR(seconds_of(cell_of("parameter-server-sync"), 1), 0.1 + 0.8, 1e-9);
}

TEST(RoundClock, in_lock_step_a_slow_worker_is_felt_one_neighbourhood_further_a_round) {
  Cell cell = cell_of("stencil-sync");
  cell.clockwork.rate_mbit = 8e9;
  cell.condition.topology = "ring:8";
  cell.condition.slow = {{0, 4.0}};
  EXPECT_NEAR(seconds_of(cell, 20), 8, 0.01);
}

TEST(RoundClock, counts_the_bytes_of_each_way) {
  const auto bytes = [](const std::string& strategy) {
    RoundClock clock(cell_of(strategy), kModel);
    clock.tick();
    return clock.bytes();
  };
  EXPECT_EQ(bytes("local"), 0);
  EXPECT_EQ(bytes("allreduce"), 6 * kModel);
  EXPECT_EQ(bytes("parameter-server-sync"), 8 * kModel);
  EXPECT_EQ(bytes("stencil-sync"), 8 * kModel);
}

TEST(RoundClock, the_seed_determines_the_jitter) {
  Cell cell = cell_of("allreduce");
  cell.condition.jitter = 1;
  const double once = seconds_of(cell, 50);
  EXPECT_EQ(seconds_of(cell, 50), once);
  EXPECT_GT(once, seconds_of(cell_of("allreduce"), 50));
  cell.seed = 2;
  EXPECT_NE(seconds_of(cell, 50), once);
}

TEST(Retimed, only_the_clock_changes) {
  Cell slow = cell_of("allreduce");
  slow.condition.slow = {{1, 3.0}};
  slow.clockwork.rate_mbit = 8e6;
  EXPECT_TRUE(timeless(slow).condition.slow.empty());
  CellResult twin;
  twin.curve = {{.samples = 128, .seconds = 0.1, .bytes = 1, .accuracy = 0.3}};
  twin.samples = 256;
  twin.mean_model = 0.5;
  twin.model_bytes = kModel;
  const CellResult result = retimed(slow, twin);
  EXPECT_EQ(result.mean_model, 0.5);
  EXPECT_NEAR(result.curve[0].seconds, 0.3, 1e-9);
  EXPECT_NEAR(result.training_seconds, 0.6, 1e-9);
  // What depends on time has no timeless twin.
  Cell ours = slow;
  ours.strategy.name = "stencil-async";
  EXPECT_EQ(hash(timeless(ours)), hash(ours));
}

TEST(Retimed, who_neighbours_whom_matters_to_those_with_neighbours_alone) {
  const auto twin = [](const char* strategy, const char* topology) {
    Cell cell = cell_of(strategy);
    cell.condition.topology = topology;
    return timeless(cell).condition.topology;
  };
  EXPECT_EQ(twin("allreduce", "ring:16"), "torus:4x4");
  EXPECT_EQ(twin("local", "torus:4x2"), "torus:2x4");
  EXPECT_EQ(twin("allreduce", "complete:7"), "ring:7");
  EXPECT_EQ(twin("stencil-sync", "ring:16"), "ring:16");
}

TEST(Retimed, an_all_reduce_learns_the_same_by_any_buckets) {
  Cell cell = cell_of("allreduce");
  cell.strategy.exchange.bucket_kib = 1024;
  EXPECT_EQ(timeless(cell).strategy.exchange.bucket_kib, 0);
}

}  // namespace
}  // namespace fast::compare
