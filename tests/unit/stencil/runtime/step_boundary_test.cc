#include "stencil/runtime/step_boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "stencil/mix/codecs/kinds.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

using ::testing::Each;
using ::testing::FloatEq;

/// A model of two buckets of 100 values, all 1, and a neighbour's of all 3.
class StepBoundaryTest : public testing::Test {
 protected:
  /// Averages a bucket with the neighbour's, as the background work does between two folds.
  void average(std::uint32_t bucket) {
    Bytes offer(400), reply(400);
    ASSERT_TRUE(theirs_.offer(bucket, *codec_, offer).applied);
    ASSERT_TRUE(ours_.answer(bucket, *codec_, offer, 2, reply).applied);
    theirs_.close(bucket);
  }
  /// What a step of the training thread does.
  void step(float by) {
    for (float& value : x_) value += by;
  }
  bool end() { return boundary_.end_step(x_, scalars_); }
  void pass(Pause pause) { boundary_.pause(pause); }

  std::vector<float> x_ = std::vector<float>(200, 1.0F);
  std::vector<double> scalars_ = {0};
  Mixer ours_{Layout::flat(200, 100), x_, scalars_};
  Mixer theirs_{Layout::flat(200, 100), std::vector<float>(200, 3.0F), scalars_};
  std::unique_ptr<EdgeCodec> codec_ = make_edge_codec(parse_codec("fp32"), ours_.layout(), x_);
  StepBoundary boundary_{ours_};
};

TEST_F(StepBoundaryTest, what_came_during_a_step_enters_at_its_end_and_the_step_is_kept) {
  average(0);
  step(0.5F);
  EXPECT_TRUE(end());
  EXPECT_EQ(boundary_.standing().step, 1U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_FLOAT_EQ(x_[i], i < 100 ? 2.5F : 1.5F) << i;
}

TEST_F(StepBoundaryTest, what_comes_in_its_pause_enters_when_the_pause_ends) {
  EXPECT_TRUE(end());
  pass(Pause::kGathering);
  pass(Pause::kSweeping);
  average(1);
  EXPECT_FLOAT_EQ(x_[150], 1);
  pass(Pause::kNone);
  EXPECT_TRUE(boundary_.resume(x_, scalars_));
  EXPECT_FLOAT_EQ(x_[150], 2);
  EXPECT_FLOAT_EQ(x_[50], 1);
}

TEST_F(StepBoundaryTest, without_a_pause_nothing_enters_before_the_next_end) {
  EXPECT_TRUE(end());
  average(0);
  pass(Pause::kNone);
  EXPECT_TRUE(boundary_.resume(x_, scalars_));
  EXPECT_FLOAT_EQ(x_[0], 1);
  EXPECT_TRUE(end());
  EXPECT_FLOAT_EQ(x_[0], 2);
}

TEST_F(StepBoundaryTest, what_came_while_a_worker_waited_to_begin_is_its_first_model) {
  average(0);
  average(1);
  EXPECT_TRUE(boundary_.begin(x_, scalars_));
  EXPECT_THAT(x_, Each(FloatEq(2)));
  EXPECT_EQ(boundary_.next(), 1U);
}

TEST_F(StepBoundaryTest, a_part_that_is_made_is_told_and_enters_early) {
  average(1);
  step(0.5F);
  const BucketRange part = boundary_.would_be_made(100);
  EXPECT_EQ(part.begin, 100U);
  EXPECT_EQ(part.size, 100U);
  EXPECT_TRUE(boundary_.made_from(x_, 100));
  EXPECT_EQ(boundary_.standing().made_from, 1U);
  EXPECT_FLOAT_EQ(x_[150], 2.5F);
  EXPECT_EQ(boundary_.would_be_made(100).size, 0U) << "once";
  EXPECT_TRUE(end());
  EXPECT_EQ(boundary_.standing().made_from, Standing::kNoBucket);
  EXPECT_FLOAT_EQ(x_[150], 2.5F);
}

TEST_F(StepBoundaryTest, an_adopted_model_takes_the_place_of_the_step_in_progress) {
  Bytes bytes(400);
  for (const std::uint32_t bucket : {0, 1}) {
    ASSERT_TRUE(theirs_.copy(bucket, bytes).applied);
    ASSERT_TRUE(ours_.adopt(bucket, bytes).applied);
  }
  step(0.5F);
  EXPECT_TRUE(boundary_.take_over(x_, scalars_));
  EXPECT_THAT(x_, Each(FloatEq(3)));
  EXPECT_EQ(boundary_.standing().step, 0U);
}

TEST_F(StepBoundaryTest, says_where_a_parameter_is_not_finite) {
  x_[7] = std::nanf("");
  EXPECT_FALSE(end());
}

TEST_F(StepBoundaryTest, says_at_its_end_where_a_part_that_was_made_is_not_finite) {
  x_[150] = std::nanf("");
  EXPECT_TRUE(boundary_.made_from(x_, 100));
  EXPECT_FALSE(end());
  x_[150] = 1;
  EXPECT_TRUE(end()) << "of another step";
}

/// What stands in memory that no fold has to touch shows which it touches.
TEST_F(StepBoundaryTest, where_nothing_came_its_pause_touches_no_memory) {
  EXPECT_TRUE(end());
  pass(Pause::kSweeping);
  pass(Pause::kNone);
  std::ranges::fill(x_, 7.0F);
  std::ranges::fill(ours_.segment().p(), 5.0F);
  EXPECT_TRUE(boundary_.resume(x_, scalars_));
  EXPECT_THAT(x_, Each(FloatEq(7)));
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1)));
  EXPECT_THAT(ours_.segment().p(), Each(FloatEq(5)));
}

TEST_F(StepBoundaryTest, where_nothing_came_its_end_shows_the_step_and_leaves_p_alone) {
  step(0.5F);
  std::ranges::fill(ours_.segment().p(), 5.0F);
  EXPECT_TRUE(end());
  EXPECT_THAT(x_, Each(FloatEq(1.5F)));
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1.5F)));
  EXPECT_THAT(ours_.segment().p(), Each(FloatEq(5)));
}

TEST_F(StepBoundaryTest, a_part_that_was_made_is_gone_over_again_only_where_something_came) {
  step(0.5F);
  EXPECT_TRUE(boundary_.made_from(x_, 0));
  average(1);
  std::fill_n(ours_.segment().p().begin(), 100, 5.0F);
  EXPECT_TRUE(end());
  for (std::size_t i = 0; i < 200; ++i) EXPECT_FLOAT_EQ(x_[i], i < 100 ? 1.5F : 2.25F) << i;
}

TEST_F(StepBoundaryTest, a_bucket_that_was_locked_at_its_end_is_shown_when_its_pause_ends) {
  step(0.5F);
  {
    const BucketGuard held = BucketGuard::wait(ours_.segment().control(1));
    std::thread([&] { EXPECT_TRUE(end()); }).join();
  }
  EXPECT_EQ(ours_.deferred(), 1U);
  EXPECT_FLOAT_EQ(ours_.segment().y()[150], 1);
  pass(Pause::kSweeping);
  pass(Pause::kNone);
  EXPECT_TRUE(boundary_.resume(x_, scalars_));
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1.5F)));
}

}  // namespace
}  // namespace stencil
