#include "stencil/runtime/linger.h"

#include <gtest/gtest.h>

#include <chrono>

namespace stencil {
namespace {

TimePoint at(double seconds) {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

/// Steps of ten seconds, a second between them.
struct Worker {
  explicit Worker(double share) : linger(share) {}
  double waits(bool swept) {
    const TimePoint boundary = at(11.0 * count++);
    const TimePoint until = linger.until(boundary, swept);
    linger.resumed(boundary + std::chrono::seconds(1));
    return std::chrono::duration<double>(until - boundary).count();
  }
  Linger linger;
  int count = 0;
};

TEST(Linger, WithoutAShareNeverWaits) {
  Worker worker(0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker.waits(true), 0);
}

TEST(Linger, WaitsAShareOfItsOwnStepOnceItKnowsOne) {
  Worker worker(0.1);
  EXPECT_EQ(worker.waits(true), 0) << "no step is known yet";
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(worker.waits(true), 1, 1e-6);
}

TEST(Linger, FollowsStepsThatChange) {
  Linger linger(0.1);
  double now = 0;
  double wait = 0;
  for (const double step : {1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0}) {
    linger.resumed(at(now));
    const TimePoint boundary = at(now += step);
    const double before = wait;
    wait = std::chrono::duration<double>(linger.until(boundary, true) - boundary).count();
    EXPECT_GE(wait, before);
  }
  EXPECT_GT(wait, 0.25);
  EXPECT_LT(wait, 0.3);
}

TEST(Linger, DoesNotWaitInVain) {
  Worker worker(0.1);
  (void)worker.waits(true);
  EXPECT_NEAR(worker.waits(true), 1, 1e-6);
  EXPECT_EQ(worker.waits(false), 0) << "a whole step was not enough for the last sweeps";
  EXPECT_NEAR(worker.waits(true), 1, 1e-6) << "they are quick again";
}

}  // namespace
}  // namespace stencil
