#include "bench/compare/report/table.h"

#include <gmock/gmock.h>

namespace fast::compare {
namespace {

using ::testing::HasSubstr;

Finished finished(const std::string& strategy, std::uint64_t seed, double final_accuracy,
                  double seconds, double bytes) {
  Finished one;
  one.cell.strategy.name = strategy;
  one.cell.seed = seed;
  for (int i = 1; i <= 10; ++i) {
    one.result.curve.push_back({.samples = 100.0 * i,
                                .seconds = seconds * i / 10,
                                .bytes = bytes * i / 10,
                                .accuracy = final_accuracy * i / 10});
  }
  one.result.mean_model = final_accuracy;
  one.result.workers = {final_accuracy, final_accuracy - 0.01};
  one.result.training_seconds = seconds;
  one.result.samples = 1000;
  one.result.bytes = bytes;
  return one;
}

TEST(Table, seeds_become_one_row_with_mean_and_deviation) {
  const auto groups = make_groups({finished("allreduce", 1, 0.60, 10, 1000),
                                   finished("allreduce", 2, 0.64, 10, 1000),
                                   finished("stencil-async", 1, 0.62, 5, 4000)});
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].rows.size(), 2U);
  const Row& row = groups[0].rows[0];
  EXPECT_EQ(row.seeds, 2);
  EXPECT_NEAR(row.accuracy->mean, 0.62, 1e-12);
  EXPECT_NEAR(row.accuracy->deviation, 0.0282842712, 1e-9);
  EXPECT_NEAR(row.worst->mean, 0.61, 1e-12);
  EXPECT_NEAR(groups[0].target, kTargetShare * 0.62, 1e-12);
}

TEST(Table, time_to_the_target_is_read_off_the_curve) {
  const auto one = finished("allreduce", 1, 0.6, 10, 0);
  EXPECT_NEAR(*seconds_until(one.result.curve, 0.57), 9.5, 1e-9);
  EXPECT_NEAR(*seconds_until(one.result.curve, 0.01), 1, 1e-9) << "before its first point";
  EXPECT_FALSE(seconds_until(one.result.curve, 0.61));
}

TEST(Table, cuts_at_equal_time_and_equal_bytes) {
  const auto groups =
      make_groups({finished("allreduce", 1, 0.6, 10, 1000),
                   finished("stencil-async", 1, 0.6, 5, 2000), finished("local", 1, 0.3, 5, 0)});
  const auto& rows = groups[0].rows;
  EXPECT_NEAR(*rows[0].at_equal_time, 0.3, 1e-9) << "half of its time";
  EXPECT_NEAR(*rows[1].at_equal_time, 0.6, 1e-9);
  EXPECT_NEAR(*rows[1].at_equal_bytes, 0.3, 1e-9) << "half of its bytes";
  EXPECT_FALSE(rows[2].at_equal_bytes) << "it sends nothing";
  EXPECT_FALSE(rows[2].seconds_to_target);
}

TEST(Table, what_diverged_is_said_and_spoils_nothing) {
  Finished bad = finished("stencil-async", 2, 0, 1, 1);
  bad.result.mean_model.reset();
  bad.result.diverged = true;
  bad.result.curve.clear();
  const auto groups = make_groups({finished("stencil-async", 1, 0.6, 10, 1000), bad});
  const std::string text = to_markdown(groups);
  EXPECT_THAT(text, HasSubstr("1 of 2 diverged"));
  EXPECT_THAT(text, HasSubstr("60.00"));
  EXPECT_FALSE(groups[0].rows[0].seconds_to_target) << "not every seed got there";
}

}  // namespace
}  // namespace fast::compare
