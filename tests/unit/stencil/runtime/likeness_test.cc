#include "stencil/runtime/likeness.h"

#include <gtest/gtest.h>

#include <vector>

namespace stencil {
namespace {

TimePoint at(double s) {
  return TimePoint(seconds(s));
}

Steps steps(double last, double every, std::uint64_t count = 10) {
  return {count, at(last), seconds(every)};
}

TEST(Likeness, OfStepsOfAboutOneLengthIsWhole) {
  for (const double every : {0.5, 0.6, 1.0, 1.9, 2.0}) {
    EXPECT_EQ(likeness(steps(100, 1), steps(99.9, every), at(100)), 1) << every;
  }
}

TEST(Likeness, OfOthersIsTwiceTheShorterOverTheLonger) {
  EXPECT_NEAR(likeness(steps(100, 1), steps(99, 4), at(100)), 0.5, 1e-9);
  EXPECT_NEAR(likeness(steps(99, 4), steps(100, 1), at(100)), 0.5, 1e-9) << "of either end";
  EXPECT_NEAR(likeness(steps(100, 1), steps(100, 0.01), at(100)), 0.02, 1e-9);
}

TEST(Likeness, FadesWhileOneStandsStill) {
  EXPECT_EQ(likeness(steps(100, 1), steps(99, 1), at(100)), 1);
  EXPECT_NEAR(likeness(steps(100, 1), steps(90, 1), at(100)), 0.2, 1e-9) << "ten steps long";
  EXPECT_NEAR(likeness(steps(90, 1), steps(100, 1), at(100)), 0.2, 1e-9) << "this one does";
}

TEST(Likeness, FadesWhileOneHasNotEndedItsFirstStep) {
  EXPECT_NEAR(likeness(steps(100, 1), steps(0, 0, 0), at(100)), 0.02, 1e-9);
  EXPECT_EQ(likeness(steps(1, 1), steps(0.5, 0, 0), at(1)), 1) << "it may be as long";
  EXPECT_EQ(likeness(steps(100, 1), steps(99.9, 0, 1), at(100)), 1) << "it has just ended";
  EXPECT_EQ(likeness(steps(100, 0, 0), steps(100, 0, 0), at(100)), 1);
}

/// One neighbour of a test.
struct Heard {
  Steps steps;
  LinkState link = LinkState::kUp;
  WorkerState state = WorkerState::kTraining;
};

/// Of a worker whose steps take a second.
double likeness_to(const std::vector<Heard>& all) {
  Neighbours neighbours;
  Rank rank = 0;
  for (const Heard& heard : all) {
    Neighbour& neighbour = neighbours.add({.rank = rank++});
    neighbour.state = heard.link;
    neighbour.report.state = heard.state;
    neighbour.report.steps = heard.steps;
  }
  Likeness found;
  EXPECT_EQ(found.at(at(100)), 1) << "before anything is known";
  found.hear(steps(100, 1), neighbours);
  return found.at(at(100));
}

TEST(LikenessToQuickNeighbours, IsThatOfTheQuickest) {
  EXPECT_EQ(likeness_to({}), 1);
  EXPECT_EQ(likeness_to({{steps(99.9, 1)}, {steps(99.9, 0.6)}}), 1);
  EXPECT_NEAR(likeness_to({{steps(99.9, 0.25)}, {steps(99.9, 0.1)}}), 0.2, 1e-9);
}

TEST(LikenessToQuickNeighbours, LeavesOutSlowerOnesAndThoseThatDoNotStep) {
  EXPECT_EQ(likeness_to({{steps(50, 200)}}), 1);
  EXPECT_EQ(likeness_to({{steps(99.9, 0.1), LinkState::kGone}}), 1);
  EXPECT_EQ(likeness_to({{steps(99.9, 0.1), LinkState::kUp, WorkerState::kSettled}}), 1);
}

}  // namespace
}  // namespace stencil
