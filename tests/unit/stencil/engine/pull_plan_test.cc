#include "stencil/engine/pull_plan.h"

#include <gtest/gtest.h>

#include <array>

namespace stencil {
namespace {

TimePoint at(int seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

TEST(PullPlan, asks_each_bucket_of_each_source_in_order_within_its_window) {
  PullPlan plan(3, 2);
  plan.start(4, std::array{1, 2});
  const auto first = plan.next(at(0));
  const auto second = plan.next(at(0));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bucket, 0U);
  EXPECT_EQ(second->bucket, 1U);
  EXPECT_EQ(first->rank, 1);
  EXPECT_FALSE(plan.next(at(0)));
  EXPECT_FALSE(plan.complete(2, 0, 4)) << "nobody asked 2 yet";
  EXPECT_FALSE(plan.complete(1, 0, 3)) << "another round";
  EXPECT_TRUE(plan.complete(1, 0, 4));
  EXPECT_FALSE(plan.complete(1, 0, 4)) << "doubled";
  const auto third = plan.next(at(0));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->rank, 2);
  EXPECT_EQ(third->bucket, 0U);
  EXPECT_TRUE(plan.complete(2, 0, 4));
  EXPECT_TRUE(plan.complete(1, 1, 4));
  int more = 0;
  while (const auto pull = plan.next(at(0))) {
    EXPECT_TRUE(plan.complete(pull->rank, pull->bucket, 4));
    ++more;
  }
  EXPECT_EQ(more, 3);
  EXPECT_TRUE(plan.finished());
}

TEST(PullPlan, repeats_what_a_new_link_or_a_deadline_calls_for) {
  PullPlan plan(2, 2);
  plan.start(1, std::array{3});
  (void)plan.next(at(0));
  (void)plan.next(at(5));
  EXPECT_EQ(plan.oldest(), at(0));
  EXPECT_EQ(plan.overdue(at(1), at(11)).size(), 1U);
  EXPECT_EQ(plan.oldest(), at(5));
  plan.repeat(3);
  EXPECT_EQ(plan.oldest(), kNever);
  EXPECT_TRUE(plan.next(at(12)));
  EXPECT_TRUE(plan.next(at(12)));
  EXPECT_FALSE(plan.next(at(12)));
}

TEST(PullPlan, stopped_wants_nothing_any_more) {
  PullPlan plan(2, 2);
  plan.start(0, std::array{3});
  (void)plan.next(at(0));
  plan.stop();
  EXPECT_FALSE(plan.active());
  EXPECT_EQ(plan.oldest(), kNever);
  EXPECT_TRUE(plan.overdue(at(9), at(9)).empty());
  EXPECT_TRUE(plan.awaited().empty());
}

TEST(PullPlan, without_sources_is_finished_at_once) {
  PullPlan plan(2, 2);
  plan.start(1, {});
  EXPECT_TRUE(plan.finished());
}

}  // namespace
}  // namespace stencil
