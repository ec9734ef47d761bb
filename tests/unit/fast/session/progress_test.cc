// How far the network has come, as a worker knows it.
#include "fast/session/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace fast {
namespace {

TEST(Progress, OfAWorkerThatHearsNobodyIsItsOwnAlone) {
  Progress progress(4, Aim{.budget = 400}, 0);
  for (int step = 0; step < 100; ++step) progress.add(1, 1);
  EXPECT_NEAR(progress.fraction(), 0.25, 1e-9);
  EXPECT_NEAR(progress.scalars()[1], 1, 1e-9) << "the mean over four workers, where three did none";
}

TEST(Progress, CountsForAllWhatOthersHaveBeenTold) {
  Progress progress(4, Aim{.budget = 400}, 0);
  for (int step = 0; step < 100; ++step) progress.add(1, 1);
  progress.heard();
  EXPECT_NEAR(progress.fraction(), 1, 1e-9);
  progress.add(4, 1);
  EXPECT_NEAR(progress.fraction(), 1.01, 1e-9);
}

TEST(Progress, OfAGridThatGrewCountsWhatIsDoneFromThenOnAsOneOfMore) {
  Progress progress(2, Aim{.budget = 400}, 0);
  for (int step = 0; step < 100; ++step) progress.add(1, 1);
  progress.heard();
  EXPECT_NEAR(progress.fraction(), 0.5, 1e-9) << "both have done as much";
  progress.follow(4);
  progress.add(10, 1);
  EXPECT_NEAR(progress.fraction(), 0.525, 1e-9);
  EXPECT_NEAR(progress.scalars()[1], 0.6, 1e-9);
}

TEST(Progress, IsStoppedByWhoeverSaysSoAndNotByScalarsThatLackIt) {
  Progress progress(2, Aim{}, 0);
  EXPECT_FALSE(Progress::stopped(progress.scalars()));
  progress.stop();
  EXPECT_TRUE(Progress::stopped(progress.scalars()));
  EXPECT_FALSE(Progress::stopped({}));
  EXPECT_FALSE(Progress::stopped(progress.scalars().first(5)));
}

TEST(Progress, OfEpochsIsOfThisWorkersOwnExamples) {
  Progress progress(2, Aim{.epochs = 2}, 100);
  for (int step = 0; step < 100; ++step) progress.add(1, 1);
  EXPECT_NEAR(progress.fraction(), 0.5, 1e-9);
}

TEST(Progress, OfALongerBudgetIsWhatWasMadeOfTheShorterOne) {
  Progress first(1, {.budget = 100}, 0);
  first.add(100, std::nullopt);
  EXPECT_DOUBLE_EQ(first.fraction(), 1);
  std::vector<double> scalars(first.scalars().begin(), first.scalars().end());
  Progress::lengthen(scalars, 0.25);
  EXPECT_DOUBLE_EQ(Progress(1, {.budget = 400}, 0, scalars).fraction(), 0.25);
}

TEST(Progress, CountsHaveBoundsAndWhatIsMeasuredHasNone) {
  const Progress progress(2, Aim{.budget = 100}, 0, {}, /*others=*/2);
  const std::vector<double> most = progress.most(1200);
  ASSERT_EQ(most.size(), progress.scalars().size());
  EXPECT_EQ(most.front(), 1200) << "steps";
  for (const std::size_t count : {1, 3, 4, 5}) EXPECT_EQ(most[count], 1e18) << count;
  for (const std::size_t measured : {2, 6, 7}) EXPECT_TRUE(std::isinf(most[measured])) << measured;
}

TEST(Progress, OfTheOnlyWorkerIsItsOwn) {
  Progress progress(1, Aim{.budget = 100}, 0);
  progress.add(25, 1);
  EXPECT_NEAR(progress.fraction(), 0.25, 1e-9);
}

}  // namespace
}  // namespace fast
