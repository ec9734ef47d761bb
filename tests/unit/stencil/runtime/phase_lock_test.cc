#include "stencil/runtime/phase_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace stencil {
namespace {

TimePoint at(double s) {
  return TimePoint(seconds(s));
}

/// One neighbour of a test: it trains, passed its last boundary at `stepped`, and takes a step in
/// `every`.
struct Heard {
  double stepped, every;
  LinkState link = LinkState::kUp;
  WorkerState state = WorkerState::kTraining;
};

/// Steps of a second, after which the largest patience is saved.
class PhaseLockTest : public testing::Test {
 protected:
  void SetUp() override {
    for (now_ = 1; now_ < 20; ++now_) {
      lock_.boundary(at(now_), true);
      lock_.resumed(at(now_));
    }
  }
  /// How long a boundary now waits for these neighbours.
  double waits(const std::vector<Heard>& all, bool worthwhile = true) {
    hear(lock_, all);
    lock_.boundary(at(now_), worthwhile);
    return std::chrono::duration<double>(lock_.until() - at(now_)).count();
  }
  static void hear(PhaseLock& lock, const std::vector<Heard>& all) {
    Neighbours neighbours;
    Rank rank = 0;
    for (const Heard& heard : all) {
      Neighbour& neighbour = neighbours.add({.rank = rank++});
      neighbour.state = heard.link;
      neighbour.report.state = heard.state;
      neighbour.report.steps.last = at(heard.stepped);
      neighbour.report.steps.every = seconds(heard.every);
    }
    lock.hear(neighbours);
  }
  PhaseLock lock_{0.1};
  double now_ = 0;
};

TEST_F(PhaseLockTest, WaitsForWhoIsAboutToEndItsStep) {
  EXPECT_NEAR(waits({Heard{now_ - 0.9, 1}}), 0.2, 1e-6) << "what two boundaries have saved";
}

TEST_F(PhaseLockTest, WhoHasNotEndedTheSameStepIsBehind) {
  const auto behind = [this](const Heard& heard) {
    (void)waits({heard});
    return lock_.behind();
  };
  EXPECT_TRUE(behind({now_ - 0.7, 1}));
  EXPECT_FALSE(behind({now_ - 0.2, 1})) << "it was quicker";
  EXPECT_FALSE(behind({now_ - 0.7, 2})) << "its steps are longer";
  EXPECT_FALSE(behind({now_ - 0.7, 1, LinkState::kSuspect})) << "it is away";
}

TEST_F(PhaseLockTest, WaitsNoLongerOnceItHas) {
  ASSERT_GT(waits({Heard{now_ - 0.9, 1}}), 0);
  hear(lock_, {Heard{now_ + 0.05, 1}});
  EXPECT_LE(lock_.until(), at(now_));
}

TEST_F(PhaseLockTest, WaitsForTheLastOfSeveral) {
  ASSERT_GT(waits({Heard{now_ - 0.9, 1}, Heard{now_ - 0.95, 1}}), 0);
  hear(lock_, {Heard{now_ + 0.05, 1}, Heard{now_ - 0.95, 1}});
  EXPECT_GT(lock_.until(), at(now_ + 0.1));
}

TEST_F(PhaseLockTest, WhoIsLateIsAboutTo) {
  EXPECT_GT(waits({Heard{now_ - 1.1, 1}}), 0);
}

TEST_F(PhaseLockTest, WhoIsLateBeyondAllPatienceIsNot) {
  EXPECT_GT(waits({Heard{now_ - 1.19, 1}}), 0);
  EXPECT_EQ(waits({Heard{now_ - 1.21, 1}}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoHasJustPassedABoundary) {
  EXPECT_EQ(waits({Heard{now_ - 0.1, 1}}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoWillNotComeInTime) {
  EXPECT_EQ(waits({Heard{now_ - 0.7, 1}}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoIsSlowerOrFaster) {
  EXPECT_GT(waits({Heard{now_ - 0.95, 1.09}}), 0);
  EXPECT_EQ(waits({Heard{now_ - 0.95, 1.11}}), 0);
  EXPECT_GT(waits({Heard{now_ - 0.8, 0.92}}), 0);
  EXPECT_EQ(waits({Heard{now_ - 0.8, 0.9}}), 0);
}

TEST_F(PhaseLockTest, DoesNotWaitForWhoDoesNotTrain) {
  const double stepped = now_ - 0.9;
  EXPECT_EQ(waits({{stepped, 1, LinkState::kSuspect}}), 0);
  EXPECT_EQ(waits({{stepped, 1, LinkState::kUp, WorkerState::kSettling}}), 0);
  EXPECT_EQ(waits({{stepped, 0}}), 0) << "its steps are not known";
}

TEST_F(PhaseLockTest, DoesNotWaitWhereSweepsComeTooLateAnyway) {
  EXPECT_EQ(waits({Heard{now_ - 0.9, 1}}, false), 0);
}

TEST_F(PhaseLockTest, WaitsItsShareOfTheTimeAtMost) {
  const double begun = now_;
  double waited = 0;
  for (int i = 0; i < 100; ++i) {
    // Always about to end its step, but never ending it.
    const double wait = waits({Heard{now_ - 0.99, 1}});
    waited += wait;
    now_ += wait;
    lock_.resumed(at(now_));
    now_ += 1;
  }
  EXPECT_LE(waited, 0.1 * (now_ - begun) + 0.2);
  EXPECT_GE(waited, 5);
}

TEST_F(PhaseLockTest, WithoutAShareNeverWaits) {
  PhaseLock lock(0);
  hear(lock, {Heard{1, 1}});
  for (double now = 1.9; now < 9; ++now) {
    lock.boundary(at(now), true);
    EXPECT_LE(lock.until(), at(now));
    lock.resumed(at(now));
  }
}

TEST_F(PhaseLockTest, DoesNotWaitWithShortSteps) {
  PhaseLock lock(0.1);
  for (double now = 0.001; now < 0.1; now += 0.001) {
    hear(lock, {Heard{now - 0.0009, 0.001}});
    lock.boundary(at(now), true);
    EXPECT_LE(lock.until(), at(now));
    lock.resumed(at(now));
  }
}

}  // namespace
}  // namespace stencil
