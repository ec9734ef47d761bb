#include "fast/session/loss_watch.h"

#include <gmock/gmock.h>

#include <limits>

namespace fast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void add(LossWatch& watch, double loss, int times) {
  for (int i = 0; i < times; ++i) watch.add(loss);
}

TEST(LossWatchTest, SaysThatALossHasGrownAThousandfold) {
  LossWatch watch;
  add(watch, 2.5, 10);
  EXPECT_THAT(watch.grown(), IsEmpty());
  add(watch, 2400, 1000);
  EXPECT_THAT(watch.grown(), IsEmpty());
  add(watch, 2600, 1000);
  EXPECT_THAT(watch.grown(), HasSubstr("from 2.5 to 2.6e+03"));
  add(watch, 3, 1000);
  EXPECT_THAT(watch.grown(), IsEmpty()) << "it has come back";
}

TEST(LossWatchTest, NeedsMoreThanOneStepForThat) {
  LossWatch watch;
  add(watch, 1, 20);
  watch.add(10'000);
  EXPECT_THAT(watch.grown(), IsEmpty());
}

TEST(LossWatchTest, LeavesOutWhatIsNotFinite) {
  LossWatch watch;
  add(watch, 1, 5);
  watch.add(std::numeric_limits<double>::infinity());
  watch.add(std::numeric_limits<double>::quiet_NaN());
  add(watch, 1, 50);
  EXPECT_THAT(watch.grown(), IsEmpty());
  add(watch, 5000, 200);
  EXPECT_FALSE(watch.grown().empty());
}

TEST(LossWatchTest, DoesNotJudgeALossThatBeginsAtNothingOrBelow) {
  for (const double first : {0.0, -3.0}) {
    LossWatch watch;
    add(watch, first, 10);
    add(watch, 1e9, 200);
    EXPECT_THAT(watch.grown(), IsEmpty()) << first;
  }
}

}  // namespace
}  // namespace fast
