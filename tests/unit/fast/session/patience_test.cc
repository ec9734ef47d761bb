// How long a worker waits for others.
#include "fast/session/patience.h"

#include <gtest/gtest.h>

namespace fast {
namespace {

using stencil::LinkState;
using stencil::WorkerState;

/// A wait that began at 0, with one neighbour.
class PatienceTest : public ::testing::Test {
 protected:
  PatienceTest() { status_.neighbours.resize(1); }
  void neighbour(LinkState link, WorkerState state, std::uint64_t step = 0) {
    status_.neighbours[0].link = link;
    status_.neighbours[0].state = state;
    status_.neighbours[0].step = step;
  }
  bool over(double at) { return patience_.over(stencil::TimePoint(stencil::seconds(at)), status_); }

  stencil::PumpStatus status_;
  Patience patience_{10, 100, stencil::TimePoint{}};
};

TEST_F(PatienceTest, EndsAtTheDeadlineWhereNobodyIsHeard) {
  status_.state = WorkerState::kSettling;
  neighbour(LinkState::kSuspect, WorkerState::kTraining);
  EXPECT_FALSE(over(9));
  EXPECT_TRUE(over(10));
}

TEST_F(PatienceTest, LastsWhileANeighbourMakesSteps) {
  for (int at = 0; at < 1000; at += 50) {
    neighbour(LinkState::kUp, WorkerState::kTraining, static_cast<std::uint64_t>(at));
    EXPECT_FALSE(over(at));
  }
  neighbour(LinkState::kUp, WorkerState::kSettling, 950);
  EXPECT_FALSE(over(955));
  EXPECT_TRUE(over(965)) << "all are done, and do not agree";
}

TEST_F(PatienceTest, LastsForAWhileWhereANeighbourIsBusy) {
  neighbour(LinkState::kUp, WorkerState::kTraining, 7);
  EXPECT_FALSE(over(0));
  EXPECT_FALSE(over(99));
  EXPECT_FALSE(over(105));
  EXPECT_TRUE(over(110));
}

TEST_F(PatienceTest, LastsWhileOnlyOthersHaveNotSettled) {
  status_.state = WorkerState::kSettled;
  neighbour(LinkState::kUp, WorkerState::kSettled);
  EXPECT_FALSE(over(0));
  EXPECT_FALSE(over(90)) << "a worker beyond the neighbours may train";
  EXPECT_FALSE(over(99));
  EXPECT_FALSE(over(105));
  EXPECT_TRUE(over(110));
}

TEST_F(PatienceTest, LastsForEverWithoutADeadline) {
  patience_ = Patience(stencil::TimePoint{});
  neighbour(LinkState::kConnecting, WorkerState::kJoining);
  EXPECT_FALSE(over(0));
  EXPECT_TRUE(patience_.worth_a_line(stencil::TimePoint(stencil::seconds(6))));
  EXPECT_FALSE(over(1e9));
}

TEST_F(PatienceTest, IsWorthALineOnce) {
  EXPECT_FALSE(patience_.worth_a_line(stencil::TimePoint(stencil::seconds(1))));
  EXPECT_TRUE(patience_.worth_a_line(stencil::TimePoint(stencil::seconds(6))));
  EXPECT_FALSE(patience_.worth_a_line(stencil::TimePoint(stencil::seconds(7))));
}

}  // namespace
}  // namespace fast
