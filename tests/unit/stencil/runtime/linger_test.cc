#include "stencil/runtime/linger.h"

#include <gtest/gtest.h>

#include <chrono>

namespace stencil {
namespace {

TimePoint at(double s) {
  return TimePoint(seconds(s));
}

/// Steps of ten seconds, a second between them; a boundary begins sweeps of ten buckets.
struct Worker {
  explicit Worker(double share) : linger(share) {}

  /// How long it may wait at its next boundary, whose sweeps come back bucket by bucket, `each`
  /// seconds apart; 0: there are none.
  double waits(double each) {
    const double now = 11.0 * count++;
    const std::uint64_t due = each > 0 ? 10 : 0;
    const TimePoint until = linger.boundary(at(now));
    linger.sweeping(at(now), due, due);
    linger.resumed(at(now + 1));
    for (int left = 9; each > 0 && left >= 0 && (10 - left) * each < 11; --left) {
      linger.sweeping(at(now + (10 - left) * each), due, static_cast<std::uint64_t>(left));
    }
    return std::chrono::duration<double>(until - at(now)).count();
  }
  Linger linger;
  int count = 0;
};

TEST(Linger, WithoutAShareNeverWaits) {
  Worker worker(0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker.waits(0.01), 0);
}

TEST(Linger, WaitsAShareOfItsOwnStepOnceItKnowsOne) {
  Worker worker(0.1);
  EXPECT_EQ(worker.waits(0.01), 0) << "no step is known yet";
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(worker.waits(0.01), 1, 1e-6);
}

TEST(Linger, FollowsStepsThatChange) {
  Linger linger(0.1);
  double now = 0;
  double wait = 0;
  for (const double step : {1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0}) {
    linger.resumed(at(now));
    const TimePoint boundary = at(now += step);
    const double before = wait;
    wait = std::chrono::duration<double>(linger.boundary(boundary) - boundary).count();
    linger.sweeping(boundary, 2, 0);
    EXPECT_GE(wait, before);
  }
  EXPECT_GT(wait, 0.25);
  EXPECT_LT(wait, 0.3);
}

TEST(Linger, WaitsOnlyWhereAQuarterOfTheSweepsComesInThatTime) {
  Worker worker(0.1);
  (void)worker.waits(0.01);
  EXPECT_NEAR(worker.waits(0.32), 1, 1e-6);
  EXPECT_NEAR(worker.waits(0.34), 1, 1e-6) << "three of the last ten had come after 0.96 s";
  EXPECT_EQ(worker.waits(10), 0) << "after 1.02 s";
  EXPECT_EQ(worker.waits(0.01), 0) << "one of the last ten came";
  EXPECT_NEAR(worker.waits(0.01), 1, 1e-6) << "they are quick again";
}

TEST(Linger, ABoundaryWithoutSweepsSaysNothingOfHowLongTheyTake) {
  Worker worker(0.1);
  (void)worker.waits(0.01);
  EXPECT_NEAR(worker.waits(0), 1, 1e-6) << "what it waits for is complete at once";
  EXPECT_TRUE(worker.linger.complete());
  EXPECT_NEAR(worker.waits(5), 1, 1e-6);
  EXPECT_EQ(worker.waits(0), 0);
  EXPECT_EQ(worker.waits(0.01), 0);
  EXPECT_NEAR(worker.waits(0), 1, 1e-6);
}

TEST(Linger, WaitsWhereSweepsAreDoneBeforeTheyAreLookedAt) {
  Linger linger(0.1);
  for (int boundary = 0; boundary < 4; ++boundary) {
    const TimePoint until = linger.boundary(at(boundary));
    EXPECT_EQ(until > at(boundary), boundary > 0) << boundary;
    linger.sweeping(at(boundary), 10, 0);
    linger.resumed(at(boundary));
  }
}

TEST(Linger, IsOverOnceAllBucketsAreBack) {
  Linger linger(0.1);
  (void)linger.boundary(at(0));
  EXPECT_FALSE(linger.complete()) << "its sweeps have not begun";
  linger.sweeping(at(0), 2, 2);
  EXPECT_FALSE(linger.complete());
  linger.sweeping(at(1), 2, 1);
  EXPECT_FALSE(linger.complete());
  linger.sweeping(at(2), 2, 0);
  EXPECT_TRUE(linger.complete());
  (void)linger.boundary(at(3));
  EXPECT_FALSE(linger.complete());
}

}  // namespace
}  // namespace stencil
