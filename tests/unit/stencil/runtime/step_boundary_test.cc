#include "stencil/runtime/step_boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "stencil/mix/codecs/kinds.h"
#include "tests/support/codec_cases.h"
#include "tests/support/step_boundary_fixture.h"

namespace stencil {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::FloatEq;
using Phase = StepBoundary::Phase;

TEST_F(StepBoundaryTest, what_came_while_a_worker_waited_to_join_is_its_first_model) {
  status_.joined = false;
  EXPECT_FALSE(over());
  average(0);
  average(1);
  status_.joined = true;
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_TRUE(boundary_->passed());
  EXPECT_THAT(x_, Each(FloatEq(2)));
  EXPECT_EQ(boundary_->next(), 1U);
}

TEST_F(StepBoundaryTest, what_came_during_a_step_enters_at_its_end_and_the_step_is_kept) {
  average(0);
  step(0.5F);
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->standing().step, 1U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_FLOAT_EQ(x_[i], i < 100 ? 2.5F : 1.5F) << i;
}

TEST_F(StepBoundaryTest, what_comes_in_its_pause_enters_when_the_end_of_the_pause_is_told) {
  meet();
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->phase(), Phase::kPause);
  EXPECT_EQ(boundary_->standing().pause, Pause::kSweeping);
  EXPECT_FALSE(over());
  average(1);
  now_ += Linger::kQuick;
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_EQ(boundary_->standing().pause, Pause::kNone);
  EXPECT_FALSE(boundary_->passed()) << "that the pause is over is to be told first";
  EXPECT_FLOAT_EQ(x_[150], 1);
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_TRUE(boundary_->passed());
  EXPECT_FLOAT_EQ(x_[150], 2);
  EXPECT_FLOAT_EQ(x_[50], 1);
}

TEST_F(StepBoundaryTest, without_a_pause_nothing_enters_before_the_next_end) {
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->phase(), Phase::kLeave) << "nobody is there";
  average(0);
  EXPECT_TRUE(leave());
  EXPECT_FLOAT_EQ(x_[0], 1);
  EXPECT_TRUE(show());
  EXPECT_FLOAT_EQ(x_[0], 2);
}

TEST_F(StepBoundaryTest, a_part_that_is_made_is_told_and_enters_early) {
  average(1);
  step(0.5F);
  const BucketRange part = boundary_->would_be_made(100);
  EXPECT_EQ(part.begin, 100U);
  EXPECT_EQ(part.size, 100U);
  EXPECT_TRUE(boundary_->made_from(x_, 100));
  EXPECT_EQ(boundary_->standing().made_from, 1U);
  EXPECT_FLOAT_EQ(x_[150], 2.5F);
  EXPECT_EQ(boundary_->would_be_made(100).size, 0U) << "once";
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->standing().made_from, Standing::kNoBucket);
  EXPECT_FLOAT_EQ(x_[150], 2.5F);
  EXPECT_TRUE(leave());
  EXPECT_EQ(boundary_->would_be_made(100).size, 100U) << "of the next step";
}

TEST_F(StepBoundaryTest, an_adopted_model_takes_the_place_of_the_step_in_progress) {
  Followers followers;
  followers.of(0, 100).factor = 1;
  ours_.follow(followers);
  step(0.5F);
  boundary_->reach();
  status_.joined = false;
  EXPECT_FALSE(over()) << "the model is still on its way";
  adopt();
  status_.joined = true;
  EXPECT_TRUE(over());
  ASSERT_TRUE(boundary_->adopts(status_));
  boundary_->take_over(status_, x_, scalars_);
  EXPECT_TRUE(boundary_->passed());
  EXPECT_FALSE(boundary_->adopts(status_));
  EXPECT_EQ(boundary_->adopted(), 1U);
  EXPECT_THAT(x_, Each(FloatEq(3)));
  EXPECT_EQ(boundary_->standing().step, 0U);
  EXPECT_TRUE(followers.empty());
}

TEST_F(StepBoundaryTest, a_model_that_is_adopted_in_a_pause_is_taken_over_at_the_next_boundary) {
  meet();
  EXPECT_TRUE(show());
  adopt();
  EXPECT_FALSE(boundary_->adopts(status_));
  EXPECT_TRUE(leave());
  boundary_->reach();
  EXPECT_TRUE(boundary_->adopts(status_));
}

TEST_F(StepBoundaryTest, followers_learn_how_like_the_steps_of_neighbours_are) {
  Followers followers;
  followers.likeness = 0.25;
  ours_.follow(followers);
  EXPECT_TRUE(show());
  EXPECT_EQ(followers.likeness, boundary_->pauses().likeness(now_));
}

TEST_F(StepBoundaryTest, says_where_a_parameter_is_not_finite) {
  x_[7] = std::nanf("");
  EXPECT_FALSE(show());
}

TEST_F(StepBoundaryTest, says_at_its_end_where_a_part_that_was_made_is_not_finite) {
  x_[150] = std::nanf("");
  EXPECT_TRUE(boundary_->made_from(x_, 100));
  EXPECT_FALSE(show());
  x_[150] = 1;
  EXPECT_TRUE(leave() && show()) << "of another step";
}

/// What stands in memory that no fold has to touch shows which it touches.
TEST_F(StepBoundaryTest, where_nothing_came_its_pause_touches_no_memory) {
  meet();
  EXPECT_TRUE(show());
  ASSERT_EQ(boundary_->phase(), Phase::kPause);
  std::ranges::fill(x_, 7.0F);
  std::ranges::fill(ours_.segment().p(), 5.0F);
  EXPECT_TRUE(leave());
  EXPECT_THAT(x_, Each(FloatEq(7)));
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1)));
  EXPECT_THAT(ours_.segment().p(), Each(FloatEq(5)));
}

TEST_F(StepBoundaryTest, where_nothing_came_its_end_shows_the_step_and_leaves_p_alone) {
  step(0.5F);
  std::ranges::fill(ours_.segment().p(), 5.0F);
  EXPECT_TRUE(show());
  EXPECT_THAT(x_, Each(FloatEq(1.5F)));
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1.5F)));
  EXPECT_THAT(ours_.segment().p(), Each(FloatEq(5)));
}

TEST_F(StepBoundaryTest, a_part_that_was_made_is_gone_over_again_only_where_something_came) {
  step(0.5F);
  EXPECT_TRUE(boundary_->made_from(x_, 0));
  average(1);
  std::fill_n(ours_.segment().p().begin(), 100, 5.0F);
  EXPECT_TRUE(show());
  for (std::size_t i = 0; i < 200; ++i) EXPECT_FLOAT_EQ(x_[i], i < 100 ? 1.5F : 2.25F) << i;
}

TEST_F(StepBoundaryTest, a_bucket_that_was_locked_at_its_end_is_shown_when_its_pause_ends) {
  meet();
  step(0.5F);
  {
    const BucketGuard held = BucketGuard::wait(ours_.segment().control(1));
    std::thread([&] { EXPECT_TRUE(show()); }).join();
  }
  EXPECT_EQ(ours_.deferred(), 1U);
  EXPECT_FLOAT_EQ(ours_.segment().y()[150], 1);
  EXPECT_TRUE(leave());
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1.5F)));
}

class BoundedBoundaryTest : public StepBoundaryTest {
 protected:
  BoundedBoundaryTest() : StepBoundaryTest("bounded:2") { status_.limit.step = 1; }
};

TEST_F(BoundedBoundaryTest, a_step_past_the_limit_is_not_shown_before_neighbours_have_come_near) {
  EXPECT_TRUE(show() && leave());
  step(0.5F);
  boundary_->reach();
  EXPECT_FALSE(over());
  EXPECT_EQ(boundary_->standing().step, 1U);
  status_.limit.step = 2;
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_EQ(boundary_->standing().step, 2U);
  EXPECT_THAT(ours_.segment().y(), Each(FloatEq(1.5F)));
}

TEST_F(BoundedBoundaryTest, whoever_is_to_take_over_a_model_waits_for_nobody) {
  EXPECT_TRUE(show() && leave());
  boundary_->reach();
  EXPECT_FALSE(over());
  adopt();
  EXPECT_TRUE(over());
  EXPECT_TRUE(boundary_->adopts(status_));
}

class LockStepBoundaryTest : public StepBoundaryTest {
 protected:
  LockStepBoundaryTest() : StepBoundaryTest("sync") {}
  /// The background work pulls the neighbour's model of the round, all 3.
  void pull() {
    const auto codec = make_codec(pulled_as(parse_codec("fp32")));
    const std::vector<float> theirs(200, 3.0F);
    ASSERT_TRUE(theirs_.publish(theirs, scalars_, *codec, 0.5).finite);
    Bytes bytes(400);
    for (const std::uint32_t bucket : {0, 1}) {
      ASSERT_TRUE(theirs_.snapshot(bucket, *codec, bytes).applied);
      ASSERT_TRUE(ours_.absorb(bucket, *codec, bytes, 0.5).applied);
    }
    status_.completed_round = boundary_->standing().round;
  }
};

TEST_F(LockStepBoundaryTest, a_round_takes_the_average_when_all_of_it_has_come) {
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->standing().round, 1U);
  EXPECT_FALSE(over()) << "the neighbour's model has not come";
  pull();
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_THAT(x_, Each(FloatEq(2)));
  EXPECT_EQ(boundary_->standing().step, 1U);
  EXPECT_TRUE(over());
  EXPECT_TRUE(advance());
  EXPECT_TRUE(boundary_->passed());
}

TEST_F(LockStepBoundaryTest, a_round_is_not_published_while_neighbours_lack_the_last_one) {
  status_.neighbours_completed = false;
  boundary_->reach();
  EXPECT_FALSE(over());
  status_.neighbours_completed = true;
  EXPECT_TRUE(over());
}

TEST_F(LockStepBoundaryTest, a_round_that_was_given_up_is_published_again) {
  EXPECT_TRUE(show());
  step(0.5F);
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->standing().round, 1U);
  pull();
  EXPECT_TRUE(advance());
  EXPECT_THAT(x_, Each(FloatEq(2.25F)));
}

TEST_F(LockStepBoundaryTest, a_model_that_is_not_finite_is_not_published) {
  x_[7] = std::nanf("");
  EXPECT_FALSE(show());
  EXPECT_TRUE(boundary_->passed());
  EXPECT_EQ(boundary_->standing().round, 0U);
}

}  // namespace
}  // namespace stencil
