#include "stencil/runtime/data_cap.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

using std::chrono::hours;

constexpr DataAllowance kDaily{1'000'000, 24 * 3600};

TimePoint at(int hour) {
  return TimePoint{hours(1000 + hour)};
}

TEST(DataCap, without_an_allowance_nothing_is_rarer) {
  DataCap cap;
  cap.advance(at(0), 0);
  cap.advance(at(1), ~0ULL);
  EXPECT_FALSE(cap.caps());
  EXPECT_EQ(cap.pace(), 1);
  EXPECT_FALSE(cap.must_rest(false));
}

TEST(DataCap, whoever_uses_less_than_its_time_has_the_full_pace) {
  DataCap cap(kDaily);
  cap.advance(at(0), 0);
  cap.advance(at(12), 500'000);
  EXPECT_EQ(cap.pace(), 1);
}

TEST(DataCap, ahead_of_it_sweeps_become_rarer_and_far_ahead_there_is_a_rest) {
  DataCap cap(kDaily);
  cap.advance(at(0), 0);
  cap.advance(at(12), 550'000);
  EXPECT_NEAR(cap.pace(), 0.5, 1e-9);
  EXPECT_FALSE(cap.must_rest(false));
  cap.advance(at(12), 601'000);
  EXPECT_EQ(cap.pace(), 0);
  EXPECT_TRUE(cap.must_rest(false));
  cap.advance(TimePoint{at(12) + std::chrono::minutes(10)}, 601'000);
  EXPECT_TRUE(cap.must_rest(true)) << "a rest ends a little later than it begins";
  EXPECT_FALSE(cap.must_rest(false));
  cap.advance(at(13), 601'000);
  EXPECT_FALSE(cap.must_rest(true));
}

TEST(DataCap, a_period_ends_and_another_begins_with_all_of_the_allowance) {
  DataCap cap(kDaily);
  cap.advance(at(0), 0);
  cap.advance(at(23), 1'000'000);
  EXPECT_TRUE(cap.must_rest(false));
  cap.advance(at(24), 1'000'010);
  EXPECT_FALSE(cap.must_rest(true));
  EXPECT_EQ(cap.used().bytes, 0U);
}

TEST(DataCap, a_hundredth_of_it_is_much) {
  DataCap cap(kDaily);
  cap.advance(at(0), 5);
  EXPECT_FALSE(cap.much_since(10'004));
  EXPECT_TRUE(cap.much_since(10'005));
  cap.advance(at(0), 10'005);
  EXPECT_FALSE(cap.much_since(20'004));
  EXPECT_FALSE(DataCap().much_since(~0ULL)) << "there is none";
}

/// Bytes are counted by a process from its own start.
TEST(DataCap, goes_on_from_what_a_checkpoint_holds) {
  DataCap cap(kDaily, {900'000, 3600});
  cap.advance(at(0), 7);
  EXPECT_EQ(cap.used().bytes, 900'000U);
  cap.advance(at(1), 1007);
  EXPECT_EQ(cap.used().bytes, 901'000U);
  EXPECT_EQ(cap.used().seconds, 7200);
  EXPECT_TRUE(cap.must_rest(false));
}

}  // namespace
}  // namespace stencil
