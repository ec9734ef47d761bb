#include "stencil/runtime/linger.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Linger, AWaitInTheMiddleOfAStepIsPartOfThatStep) {
  for (const bool goes_on : {false, true}) {
    Linger linger(0.1);
    TimePoint until{};
    for (int i = 0; i < 50; ++i) {
      const double begun = 10.0 * i;
      until = linger.boundary(at(begun));
      if (goes_on) linger.goes_on(at(begun));
      linger.sweeping(at(begun), 10, 1);
      linger.resumed(at(begun + 2));
      EXPECT_EQ(linger.in_time(), i < 1) << "one was left where it waited";
    }
    const double most = std::chrono::duration<double>(until - at(490)).count();
    EXPECT_NEAR(most, goes_on ? 1.0 : 0.8, 0.01);
  }
}

TEST(Linger, SweepsThatANeighbourIsBehindWithAreNotLate) {
  Linger linger(0.1);
  for (int i = 0; i < 50; ++i) {
    const double begun = 10.0 * i;
    const bool late = i == 10, behind = i % 2 == 1;
    linger.boundary(at(begun));
    linger.sweeping(at(begun), 10, late || behind ? 1 : 0);
    linger.resumed(at(begun + 2), behind);
    EXPECT_EQ(linger.in_time(), i < 10 || i >= 26) << "boundary " << i;
  }
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

/// Steps of ten microseconds; the sweep of one bucket that each boundary begins takes `exchange`.
struct QuickWorker {
  /// Passes one boundary and returns how long it waited, in seconds.
  double boundary(double exchange, bool reachable = true) {
    const TimePoint begun = now;
    const TimePoint until = linger.boundary(now, {}, reachable);
    if (back <= now) back = now + seconds(exchange);  // the sweep before has ended: a new one
    linger.sweeping(now, 1, back > now ? 1 : 0);
    if (until > now) {
      now = std::min(until, back);
      if (back <= now) linger.sweeping(now, 1, 0);
    }
    linger.resumed(now);
    const double waited = std::chrono::duration<double>(now - begun).count();
    now += std::chrono::microseconds(10);
    return waited;
  }
  Linger linger{0.1};
  TimePoint now{}, back{};
};

TEST(Linger, AnExchangeOfLessThanAMillisecondIsWaitedForHoweverShortTheStepIs) {
  QuickWorker worker;
  EXPECT_EQ(worker.boundary(0.0005), 0) << "no step is known yet";
  (void)worker.boundary(0.0005);  // may still wait for the first one's
  for (int i = 0; i < 1000; ++i) ASSERT_NEAR(worker.boundary(0.0005), 0.0005, 1e-9) << i;
}

TEST(Linger, AnExchangeThatTakesLongerHoldsUpShortStepsOnlyAtFirst) {
  for (const double exchange : {0.0015, 0.02, 3.0}) {
    QuickWorker worker;
    double waited = 0;
    for (int i = 0; i < 1000; ++i) waited += worker.boundary(exchange);
    EXPECT_LE(waited, 0.4) << exchange;
    waited = 0;
    for (int i = 0; i < 100'000; ++i) waited += worker.boundary(exchange);
    EXPECT_LE(waited, 0.03) << "of a second of steps, where an exchange takes " << exchange << " s";
  }
}

TEST(Linger, AnExchangeThatBecomesQuickIsNoticed) {
  QuickWorker worker;
  for (int i = 0; i < 1000; ++i) (void)worker.boundary(0.01);
  for (int i = 0; i < 100'000; ++i) (void)worker.boundary(0.0002);
  EXPECT_NEAR(worker.boundary(0.0002), 0.0002, 1e-9);
}

TEST(Linger, WhoHasNobodyToExchangeWithDoesNotWait) {
  QuickWorker worker;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(worker.boundary(0.0002, false), 0);
}

TEST(Linger, ShortStepsWaitForANeighbourThatIsAboutToBegin) {
  QuickWorker worker;
  for (int i = 0; i < 3; ++i) (void)worker.boundary(0.0002);
  EXPECT_EQ(worker.linger.boundary(worker.now), worker.now + Linger::kQuick);
  worker.linger.sweeping(worker.now, 0, 0, true);
  EXPECT_FALSE(worker.linger.complete());
  worker.linger.sweeping(worker.now, 0, 0, false);
  EXPECT_TRUE(worker.linger.complete()) << "it has begun";
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
