#include "stencil/runtime/phase_lock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace stencil {
namespace {

TimePoint at(double s) {
  return TimePoint(seconds(s));
}

/// A neighbour that trains, last heard of at a boundary at `stepped`, with a step `every` so often.
Edge neighbour(double stepped, double every) {
  Edge edge;
  edge.state = LinkState::kUp;
  edge.peer_state = WorkerState::kTraining;
  edge.steps.last = at(stepped);
  edge.steps.every = seconds(every);
  return edge;
}

/// Steps of a second, which have left patience for as much as can be saved.
class PhaseLockTest : public testing::Test {
 protected:
  void SetUp() override {
    for (now_ = 1; now_ < 20; ++now_) {
      lock_.boundary(at(now_), true);
      lock_.resumed(at(now_));
    }
  }
  /// How long a boundary now waits for these neighbours.
  double waits(std::vector<Edge> edges, bool worthwhile = true) {
    lock_.hear(edges);
    lock_.boundary(at(now_), worthwhile);
    return std::chrono::duration<double>(lock_.until() - at(now_)).count();
  }
  PhaseLock lock_{0.1};
  double now_ = 0;
};

TEST_F(PhaseLockTest, WaitsForWhoIsAboutToEndItsStep) {
  EXPECT_NEAR(waits({neighbour(now_ - 0.9, 1)}), 0.2, 1e-6) << "what two boundaries have saved";
}

TEST_F(PhaseLockTest, WaitsNoLongerOnceItHas) {
  ASSERT_GT(waits({neighbour(now_ - 0.9, 1)}), 0);
  lock_.hear(std::vector{neighbour(now_ + 0.05, 1)});
  EXPECT_LE(lock_.until(), at(now_));
}

TEST_F(PhaseLockTest, WaitsForTheLastOfSeveral) {
  ASSERT_GT(waits({neighbour(now_ - 0.9, 1), neighbour(now_ - 0.95, 1)}), 0);
  lock_.hear(std::vector{neighbour(now_ + 0.05, 1), neighbour(now_ - 0.95, 1)});
  EXPECT_GT(lock_.until(), at(now_ + 0.1));
}

TEST_F(PhaseLockTest, WhoIsLateIsAboutTo) {
  EXPECT_GT(waits({neighbour(now_ - 1.1, 1)}), 0);
}

TEST_F(PhaseLockTest, WhoIsLateBeyondAllPatienceIsNot) {
  EXPECT_GT(waits({neighbour(now_ - 1.19, 1)}), 0);
  EXPECT_EQ(waits({neighbour(now_ - 1.21, 1)}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoHasJustPassedABoundary) {
  EXPECT_EQ(waits({neighbour(now_ - 0.1, 1)}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoWillNotComeInTime) {
  EXPECT_EQ(waits({neighbour(now_ - 0.7, 1)}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoIsSlowerOrFaster) {
  EXPECT_GT(waits({neighbour(now_ - 0.95, 1.09)}), 0);
  EXPECT_EQ(waits({neighbour(now_ - 0.95, 1.11)}), 0);
  EXPECT_GT(waits({neighbour(now_ - 0.8, 0.92)}), 0);
  EXPECT_EQ(waits({neighbour(now_ - 0.8, 0.9)}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoDoesNotTrain) {
  Edge gone = neighbour(now_ - 0.9, 1), settling = gone, unknown = gone;
  gone.state = LinkState::kSuspect;
  settling.peer_state = WorkerState::kSettling;
  unknown.steps.every = {};
  EXPECT_EQ(waits({gone, settling, unknown}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitWhereSweepsComeTooLateAnyway) {
  EXPECT_EQ(waits({neighbour(now_ - 0.9, 1)}, false), 0);
}

TEST_F(PhaseLockTest, WaitsItsShareOfTheTimeAtMost) {
  const double begun = now_;
  double waited = 0;
  for (int i = 0; i < 100; ++i) {
    // Always about to, and never coming.
    const double wait = waits({neighbour(now_ - 0.99, 1)});
    waited += wait;
    now_ += wait;
    lock_.resumed(at(now_));
    now_ += 1;
  }
  EXPECT_LE(waited, 0.1 * (now_ - begun) + 0.2);
  EXPECT_GE(waited, 5);
}

TEST(PhaseLock, WithoutAShareNeverWaits) {
  PhaseLock lock(0);
  lock.hear(std::vector{neighbour(1, 1)});
  for (double now = 1.9; now < 9; ++now) {
    lock.boundary(at(now), true);
    EXPECT_LE(lock.until(), at(now));
    lock.resumed(at(now));
  }
}

TEST(PhaseLock, DoesNotWaitWithShortSteps) {
  PhaseLock lock(0.1);
  for (double now = 0.001; now < 0.1; now += 0.001) {
    lock.hear(std::vector{neighbour(now - 0.0009, 0.001)});
    lock.boundary(at(now), true);
    EXPECT_LE(lock.until(), at(now));
    lock.resumed(at(now));
  }
}

}  // namespace
}  // namespace stencil
