#include "stencil/runtime/made_parts.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace stencil {
namespace {

const Layout kLayout = Layout::flat(31, 4);  // eight buckets, the last one a float shorter

constexpr Came kLate{.in_time = false, .quickly = false};
constexpr Came kInTime{.in_time = true, .quickly = true};
constexpr Came kWaited{.in_time = false, .quickly = true};

/// As early as there is: after boundaries whose sweeps came late.
MadeParts early() {
  MadeParts parts(kLayout);
  for (int i = 0; i < 20; ++i) parts.boundary(kLate);
  EXPECT_EQ(parts.late(), 1U);
  return parts;
}

/// What `parts` has to tell once all values from `first` on are made.
std::optional<std::pair<std::uint32_t, std::uint32_t>> told(MadeParts& parts, std::size_t first) {
  const auto buckets = parts.made_from(first);
  if (!buckets) return {};
  return std::pair(buckets->from, buckets->to);
}

TEST(MadeParts, TellsOfBucketsThatAreWholeAnEighthLate) {
  MadeParts parts = early();
  EXPECT_FALSE(told(parts, 28)) << "the last bucket, and an eighth late";
  EXPECT_FALSE(told(parts, 25)) << "the one before it lacks its first float";
  EXPECT_EQ(told(parts, 24), std::pair(7U, 8U));
  EXPECT_EQ(told(parts, 0), std::pair(1U, 7U));
  parts.boundary(kLate);
  EXPECT_FALSE(told(parts, 28)) << "each step begins anew";
  EXPECT_EQ(told(parts, 4), std::pair(2U, 8U));
}

TEST(MadeParts, TellsNothingTwice) {
  MadeParts parts = early();
  EXPECT_TRUE(told(parts, 8));
  for (const std::size_t first : {8, 9, 30, 31}) EXPECT_FALSE(told(parts, first)) << first;
}

TEST(MadeParts, TellsOfNothingBeforeTheBoundaryWhereSweepsComeInTime) {
  MadeParts parts(kLayout);
  for (int step = 0; step < 3; ++step) {
    for (const std::size_t first : {28, 14, 0}) EXPECT_FALSE(told(parts, first));
    parts.boundary(kInTime);
  }
}

TEST(MadeParts, BecomesEarlierWhereLinksAreSlowAndLaterAgainWhenThatIsProven) {
  MadeParts parts(kLayout);
  const std::uint32_t latest = parts.late();
  for (int i = 0; i < 7; ++i) parts.boundary(kLate);
  EXPECT_EQ(parts.late(), latest) << "it may be chance";
  for (int i = 0; i < 3; ++i) parts.boundary(kLate);
  EXPECT_EQ(parts.late(), latest - 3);
  for (int i = 0; i < 3; ++i) parts.boundary(kInTime);
  EXPECT_EQ(parts.late(), latest - 3);
  parts.boundary(kInTime);
  EXPECT_EQ(parts.late(), latest - 2);
  for (int i = 0; i < 100; ++i) parts.boundary(kInTime);
  EXPECT_EQ(parts.late(), latest);
}

TEST(MadeParts, StaysAtTheBoundaryWhereItIsNeighboursThatAreLate) {
  MadeParts parts(kLayout);
  const std::uint32_t latest = parts.late();
  for (int i = 0; i < 50; ++i) {
    parts.boundary(i % 5 == 0 ? kWaited : kLate);
    EXPECT_EQ(parts.late(), latest);
  }
}

}  // namespace
}  // namespace stencil
