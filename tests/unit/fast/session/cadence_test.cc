#include "fast/session/cadence.h"

#include <gtest/gtest.h>

namespace fast {
namespace {

using std::chrono::milliseconds;
using stencil::kNever;
using stencil::TimePoint;

TEST(CadenceTest, WhatIsHeldBackIsAskedForAgain) {
  const TimePoint start{std::chrono::hours(1)};
  Cadence cadence(milliseconds(50));
  EXPECT_EQ(cadence.next(), kNever) << "nothing has changed yet";
  EXPECT_TRUE(cadence.due(start));
  EXPECT_EQ(cadence.next(), kNever) << "all has been shown";

  EXPECT_FALSE(cadence.due(start + milliseconds(20)));
  EXPECT_EQ(cadence.next(), start + milliseconds(50));
  EXPECT_FALSE(cadence.due(start + milliseconds(49)));
  EXPECT_TRUE(cadence.due(cadence.next())) << "or whoever sleeps until then never shows it";
  EXPECT_EQ(cadence.next(), kNever);
}

TEST(CadenceTest, WhatIsShownAtOnceCounts) {
  const TimePoint start{std::chrono::hours(1)};
  Cadence cadence(milliseconds(50));
  EXPECT_TRUE(cadence.due(start));
  EXPECT_FALSE(cadence.due(start + milliseconds(10)));
  EXPECT_TRUE(cadence.due(start + milliseconds(20), true));
  EXPECT_EQ(cadence.next(), kNever);
  EXPECT_FALSE(cadence.due(start + milliseconds(60)));
  EXPECT_EQ(cadence.next(), start + milliseconds(70));
}

}  // namespace
}  // namespace fast
