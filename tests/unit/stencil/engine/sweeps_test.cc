#include "stencil/engine/sweeps.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

int begun_in(std::uint32_t per_mille, int steps) {
  SweepBook book(4, per_mille);
  int begun = 0;
  for (int step = 0; step < steps; ++step) {
    book.earn();
    while (book.may_begin()) {
      book.spend();
      book.end(book.begin(begun++, true));
    }
  }
  return begun;
}

TEST(Sweeps, fractions_of_a_sweep_per_step_add_up) {
  EXPECT_EQ(begun_in(1000, 300), 300);
  EXPECT_EQ(begun_in(250, 300), 75);
  EXPECT_EQ(begun_in(300, 300), 90);
  EXPECT_EQ(begun_in(1500, 300), 450);
  EXPECT_EQ(begun_in(4000, 300), 1200);
}

TEST(Sweeps, credit_does_not_pile_up_while_nobody_can_be_asked) {
  SweepBook book(4, 2000);
  for (int step = 0; step < 100; ++step) book.earn();
  int begun = 0;
  for (; book.may_begin(); ++begun) book.spend();
  EXPECT_EQ(begun, 2);
}

TEST(Sweeps, a_bucket_answers_a_half_then_a_third_three_times_then_is_busy) {
  BucketBook book(2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(book.admit(0), 2);
  book.open(0);
  EXPECT_TRUE(book.is_open(0));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(book.admit(0), 3);
  EXPECT_EQ(book.admit(0), std::nullopt);
  EXPECT_EQ(book.admit(1), 2);
  book.close(0);
  EXPECT_EQ(book.admit(0), 2);
}

TEST(Sweeps, a_sweep_offers_each_bucket_once_and_passes_over_open_ones) {
  SweepBook book(3, 1000);
  BucketBook buckets(3);
  buckets.open(1);
  book.begin(5, false);
  Sweep& sweep = *book.find(5);
  EXPECT_EQ(SweepBook::next(sweep, buckets), 0U);
  EXPECT_EQ(SweepBook::next(sweep, buckets), 2U);
  EXPECT_EQ(SweepBook::next(sweep, buckets), std::nullopt);
  buckets.close(1);
  EXPECT_EQ(SweepBook::next(sweep, buckets), 1U);
  EXPECT_EQ(SweepBook::next(sweep, buckets), std::nullopt);
  EXPECT_EQ(sweep.unsettled, 3U);
  book.end(sweep);
  EXPECT_EQ(book.find(5), nullptr);
}

TEST(Sweeps, a_bucket_waits_for_the_turns_before_of_the_same_step) {
  SweepBook book(2, 3000);
  book.begin(7, true);
  book.earn();
  book.begin(5, true);
  book.begin(6, false);
  book.begin(8, true);
  const auto of = [&](Rank rank) -> Sweep& { return *book.find(rank); };
  EXPECT_FALSE(book.blocked(of(5), 0)) << "what is left of a step before blocks nobody";
  EXPECT_TRUE(book.blocked(of(8), 0));
  SweepBook::take(of(5), 0);
  EXPECT_FALSE(book.blocked(of(8), 0)) << "who is not in turn blocks nobody";
  EXPECT_TRUE(book.blocked(of(8), 1));
}

TEST(Sweeps, the_first_with_a_neighbour_asks_and_each_counts_what_it_has_still_to_bring) {
  SweepBook book(2, 3000);
  book.earn();
  book.begin(5, true);
  book.begin(6, false);
  book.begin(5, true);
  EXPECT_EQ(book.find(5), &book.active()[0]);
  EXPECT_EQ(book.find_turn(5, 1), &book.active()[0]);
  EXPECT_EQ(book.find_turn(6, 1), nullptr) << "it is not in turn";
  SweepBook::take(book.active()[0], 1);
  EXPECT_EQ(book.find_turn(5, 1), &book.active()[2]);
  book.end_all(5);
  EXPECT_EQ(book.find(5), nullptr);
  ASSERT_EQ(book.active().size(), 1U);
  EXPECT_EQ(book.active()[0].rank, 6);
}

}  // namespace
}  // namespace stencil
