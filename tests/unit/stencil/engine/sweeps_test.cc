#include "stencil/engine/sweeps.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "stencil/neighbour/neighbours.h"

namespace stencil {
namespace {

/// A SweepBook and its neighbours.
struct Sweeps : testing::Test {
  SweepBook& make(std::uint32_t buckets) { return book.emplace(buckets, looked); }
  Neighbour& with(Rank rank) {
    Neighbour* found = neighbours.find(rank);
    return found ? *found : neighbours.add({.rank = rank});
  }
  /// Asks for the next bucket that `sweep` may ask for now, of `count`.
  std::optional<std::uint32_t> ask(Sweep& sweep, std::uint32_t count) {
    const auto bucket = book->next(sweep, 0, count);
    if (bucket) book->take(sweep, *bucket);
    return bucket;
  }
  int begun_in(std::uint32_t per_mille, int steps) {
    make(4);
    int begun = 0;
    for (int step = 0; step < steps; ++step) {
      book->earn(per_mille);
      while (book->may_begin()) {
        book->spend();
        book->end(book->begin(with(begun++), true));
      }
    }
    return begun;
  }
  std::uint64_t looked = 0;
  Neighbours neighbours;
  std::optional<SweepBook> book;
};

TEST_F(Sweeps, fractions_of_a_sweep_per_step_add_up) {
  EXPECT_EQ(begun_in(1000, 300), 300);
  EXPECT_EQ(begun_in(250, 300), 75);
  EXPECT_EQ(begun_in(300, 300), 90);
  EXPECT_EQ(begun_in(1500, 300), 450);
  EXPECT_EQ(begun_in(4000, 300), 1200);
}

TEST_F(Sweeps, credit_does_not_pile_up_while_nobody_can_be_asked) {
  make(4);
  for (int step = 0; step < 100; ++step) book->earn(2000);
  int begun = 0;
  for (; book->may_begin(); ++begun) book->spend();
  EXPECT_EQ(begun, 2);
}

TEST(BucketBook, a_bucket_answers_a_half_then_a_third_three_times_then_is_busy) {
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

TEST_F(Sweeps, a_sweep_offers_each_bucket_once_and_passes_over_open_ones) {
  make(3).open(1);
  Sweep& sweep = book->begin(with(5), false);
  EXPECT_EQ(book->find(with(5)), &sweep);
  EXPECT_EQ(ask(sweep, 3), 0U);
  EXPECT_EQ(ask(sweep, 3), 2U);
  EXPECT_EQ(ask(sweep, 3), std::nullopt);
  book->close_request(1);
  EXPECT_EQ(ask(sweep, 3), 1U);
  EXPECT_EQ(ask(sweep, 3), std::nullopt);
  EXPECT_EQ(sweep.unanswered, 3U);
  book->end(sweep);
  EXPECT_EQ(book->find(with(5)), nullptr);
}

TEST_F(Sweeps, a_bucket_waits_for_the_turns_before_of_the_same_step) {
  make(2).begin(with(7), true);
  book->earn(3000);
  book->begin(with(5), true);
  book->begin(with(6), false);
  book->begin(with(8), true);
  book->set_rules(true, 0);
  const auto of = [&](Rank rank) -> Sweep& { return *book->find(with(rank)); };
  EXPECT_FALSE(book->blocked(of(5), 0)) << "what is left of a step before blocks nobody";
  EXPECT_TRUE(book->blocked(of(8), 0));
  EXPECT_EQ(book->next(of(8), 0, 2), std::nullopt);
  book->take(of(5), 0);
  EXPECT_FALSE(book->blocked(of(8), 0)) << "who is not in turn blocks nobody";
  EXPECT_EQ(book->next(of(8), 0, 2), 0U);
  EXPECT_TRUE(book->blocked(of(8), 1));
}

TEST_F(Sweeps, the_first_with_a_neighbour_asks_and_each_counts_what_it_has_still_to_bring) {
  make(2).earn(3000);
  book->begin(with(5), true);
  book->begin(with(6), false);
  book->begin(with(5), true);
  EXPECT_EQ(book->find(with(5)), &book->active()[0]);
  EXPECT_EQ(book->find_turn(with(5), 1), &book->active()[0]);
  EXPECT_EQ(book->find_turn(with(6), 1), nullptr) << "it is not in turn";
  book->take(book->active()[0], 1);
  EXPECT_EQ(book->find_turn(with(5), 1), &book->active()[2]);
  book->end_all(with(5));
  EXPECT_EQ(book->find(with(5)), nullptr);
  ASSERT_EQ(book->active().size(), 1U);
  EXPECT_EQ(book->active()[0].neighbour, &with(6));
}

/// Of two sweeps in turn, each bucket of the second is ready once the first has brought it.
TEST_F(Sweeps, finding_the_next_bucket_costs_the_same_however_many_there_are) {
  std::array<double, 2> looks{};
  const std::array<std::uint32_t, 2> sizes = {1'000, 64'000};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    looked = 0;
    make(sizes[i]).earn(2000);
    book->begin(with(1), true);
    book->begin(with(2), true);
    book->set_rules(true, 0);
    for (std::uint32_t bucket = 0; bucket < sizes[i]; ++bucket) {
      Sweep& first = *book->find(with(1));
      Sweep& second = *book->find(with(2));
      ASSERT_EQ(book->next(second, 0, sizes[i]), std::nullopt) << "is not its turn yet";
      ASSERT_EQ(ask(first, sizes[i]), bucket);
      book->open(bucket);
      ASSERT_EQ(ask(second, sizes[i]), std::nullopt);
      book->close_request(bucket);
      ASSERT_EQ(ask(second, sizes[i]), bucket);
    }
    looks[i] = static_cast<double>(looked) / sizes[i];
  }
  EXPECT_GT(looks[0], 3);
  EXPECT_LT(looks[1], 2 * looks[0]) << "a level more, not 64 times as many";
}

}  // namespace
}  // namespace stencil
