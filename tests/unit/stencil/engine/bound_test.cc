#include "stencil/engine/bound.h"

#include <gtest/gtest.h>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

/// Rank 0 of ring:4, bounded:2, between ranks 1 and 3.
class BoundTest : public testing::Test {
 protected:
  void both_swept(std::uint64_t step) {
    for (Neighbour& neighbour : lone_.neighbours) neighbour.pace.swept_step = step;
  }
  test::LoneSelf lone_{"ring:4", "bounded:2"};
  Bound bound_{lone_.self};
};

TEST_F(BoundTest, the_slowest_neighbour_holds_a_worker_k_steps_ahead_of_it) {
  both_swept(100);
  lone_.they_step_to(1, 5);
  lone_.they_step_to(3, 3);
  EXPECT_EQ(bound_.limit().step, 5U);
  EXPECT_EQ(bound_.limit().limited_by, 3);
  lone_.they_step_to(3, 8);
  EXPECT_EQ(bound_.limit().step, 7U);
  EXPECT_EQ(bound_.limit().limited_by, 1);
}

TEST_F(BoundTest, so_does_a_sweep_that_is_k_steps_old) {
  for (const Rank rank : {1, 3}) lone_.they_step_to(rank, 100);
  both_swept(10);
  lone_.at(1).pace.swept_step = 4;
  lone_.step_to(5);
  EXPECT_EQ(bound_.limit().step, 6U);
  EXPECT_FALSE(bound_.overdue(lone_.at(1)));
  lone_.step_to(6);
  EXPECT_TRUE(bound_.overdue(lone_.at(1)));
  EXPECT_FALSE(bound_.overdue(lone_.at(3)));
}

TEST_F(BoundTest, nobody_is_held_by_whom_it_cannot_hear_or_who_is_done) {
  both_swept(0);
  lone_.at(1).state = LinkState::kSuspect;
  lone_.at(3).report.state = WorkerState::kSettling;
  EXPECT_EQ(bound_.limit().step, UINT64_MAX);
  EXPECT_EQ(bound_.limit().limited_by, kNoRank);
  EXPECT_FALSE(bound_.overdue(lone_.at(3)));
}

TEST_F(BoundTest, those_that_begin_together_hold_each_other_and_a_later_one_holds_nobody) {
  both_swept(100);
  lone_.they_step_to(1, 100);
  lone_.at(3).report.state = WorkerState::kJoining;
  EXPECT_EQ(bound_.limit().step, 2U);
  lone_.step_to(3);
  EXPECT_EQ(bound_.limit().step, 102U);
}

TEST_F(BoundTest, a_lead_that_was_there_when_it_came_does_not_count_and_shrinks) {
  Pace& pace = lone_.at(3).pace;
  pace.note(false, 50, 10, 2);
  EXPECT_EQ(pace.head_start, 40U);
  pace.note(true, 50, 10, 2);
  lone_.they_step_to(1, 100);
  lone_.they_step_to(3, 10);
  both_swept(100);
  EXPECT_EQ(bound_.limit().step, 52U);
  pace.note(true, 51, 30, 2);
  EXPECT_EQ(pace.head_start, 21U);
}

TEST_F(BoundTest, holds_nobody_in_another_mode_or_when_training_is_over) {
  test::LoneSelf free("ring:4");
  EXPECT_EQ(Bound(free.self).limit().step, UINT64_MAX);
  lone_.self.state = WorkerState::kSettling;
  EXPECT_EQ(bound_.limit().step, UINT64_MAX);
}

}  // namespace
}  // namespace stencil
