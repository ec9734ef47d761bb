// Steps that ask for each part of the model just before they use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/support/step_boundary_fixture.h"

namespace stencil {
namespace {

using ::testing::Each;
using ::testing::FloatEq;
using Phase = StepBoundary::Phase;

TEST_F(StepBoundaryTest, after_a_step_that_asks_for_its_parts_a_boundary_waits_for_none_of_them) {
  meet();
  EXPECT_FALSE(boundary_->take_in(x_, 0, 200));
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->standing().pause, Pause::kSweeping) << "they are exchanged all the same";
  EXPECT_EQ(boundary_->phase(), Phase::kLeave);
  average(0);
  average(1);
  EXPECT_TRUE(leave());
  EXPECT_THAT(x_, Each(FloatEq(1))) << "none is taken in there";

  EXPECT_FALSE(boundary_->has_come(0, 100));
  now_ += Linger::kQuick;
  EXPECT_TRUE(boundary_->has_come(0, 100)) << "as long as a boundary would have waited";
  EXPECT_TRUE(boundary_->take_in(x_, 0, 100)) << "that nothing is waited for is to be told";
  EXPECT_EQ(boundary_->standing().pause, Pause::kNone);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_FLOAT_EQ(x_[i], i < 100 ? 2 : 1) << i;
  EXPECT_FALSE(boundary_->take_in(x_, 100, 100));
  EXPECT_THAT(x_, Each(FloatEq(2)));
}

TEST_F(StepBoundaryTest, a_bucket_is_taken_in_once_in_a_step_when_its_first_value_is_needed) {
  EXPECT_TRUE(show() && leave());
  EXPECT_EQ(boundary_->would_be_taken(90, 20).begin, 0U);
  EXPECT_EQ(boundary_->would_be_taken(90, 20).size, 200U);
  EXPECT_EQ(boundary_->would_be_taken(150, SIZE_MAX).begin, 100U);
  EXPECT_EQ(boundary_->would_be_taken(150, SIZE_MAX).size, 100U);
  EXPECT_EQ(boundary_->would_be_taken(SIZE_MAX, 2).size, 0U);
  EXPECT_EQ(boundary_->would_be_taken(200, 1).size, 0U);
  average(0);
  EXPECT_FALSE(boundary_->take_in(x_, 0, 1));
  EXPECT_FLOAT_EQ(x_[99], 2);
  EXPECT_EQ(boundary_->would_be_taken(50, 50).size, 0U);
  EXPECT_EQ(boundary_->would_be_taken(90, 20).begin, 100U);
  theirs_.segment().y()[0] = 9;
  average(0);
  EXPECT_FALSE(boundary_->take_in(x_, 0, 200));
  EXPECT_FLOAT_EQ(x_[0], 2) << "the step uses it";
  EXPECT_TRUE(show() && leave());
  EXPECT_FLOAT_EQ(x_[0], 5.5F);
  EXPECT_EQ(boundary_->would_be_taken(0, 200).size, 200U) << "of the next step";
}

TEST_F(StepBoundaryTest, while_parts_are_made_and_at_a_boundary_none_is_taken_in) {
  EXPECT_TRUE(show() && leave());
  average(0);
  EXPECT_TRUE(boundary_->made_from(x_, 100));
  EXPECT_EQ(boundary_->would_be_taken(0, 200).size, 0U);
  EXPECT_FALSE(boundary_->take_in(x_, 0, 200));
  EXPECT_FLOAT_EQ(x_[0], 1);
  boundary_->reach();
  EXPECT_EQ(boundary_->would_be_taken(0, 200).size, 0U);
}

TEST_F(StepBoundaryTest, what_a_step_has_not_asked_for_is_taken_in_at_its_end) {
  meet();
  EXPECT_FALSE(boundary_->take_in(x_, 0, 100)) << "of half of the model";
  EXPECT_TRUE(show());
  EXPECT_EQ(boundary_->phase(), Phase::kPause) << "which is too little not to wait for the rest";
  average(1);
  EXPECT_TRUE(leave());
  EXPECT_FLOAT_EQ(x_[150], 2);
}

TEST_F(StepBoundaryTest, after_a_step_that_asks_for_its_parts_these_are_lent) {
  constexpr auto all = [](std::uint32_t) { return true; };
  const auto first_after = [&](std::size_t asked) {
    (void)boundary_->take_in(x_, 0, asked);
    EXPECT_TRUE(show() && leave());
    boundary_->lend(x_);
    theirs_.segment().y()[0] += 8;
    average(0);
    const float before = x_[0];
    ours_.fold_lent(all);
    return x_[0] - before;
  };
  EXPECT_EQ(first_after(0), 0) << "the step before it has asked for nothing";
  EXPECT_EQ(first_after(100), 0) << "or for too little";
  EXPECT_GT(first_after(200), 0);

  boundary_->take_back();
  theirs_.segment().y()[0] += 8;
  average(0);
  const float before = x_[0];
  ours_.fold_lent(all);
  EXPECT_EQ(x_[0], before) << "the training thread changes it";
  EXPECT_FALSE(boundary_->take_in(x_, 0, 200));
  EXPECT_GT(x_[0], before);
  boundary_->lend(x_);
  boundary_->reach();
  theirs_.segment().y()[0] += 8;
  average(0);
  const float reached = x_[0];
  ours_.fold_lent(all);
  EXPECT_EQ(x_[0], reached) << "at a boundary";
}

TEST_F(StepBoundaryTest, a_part_that_is_not_finite_is_told_at_the_end) {
  EXPECT_TRUE(show() && leave());
  average(0);
  x_[7] = std::nanf("");
  EXPECT_FALSE(boundary_->take_in(x_, 0, 100));
  x_[7] = 1;
  EXPECT_FALSE(show());
}

}  // namespace
}  // namespace stencil
