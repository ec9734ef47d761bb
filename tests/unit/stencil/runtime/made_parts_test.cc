#include "stencil/runtime/made_parts.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace stencil {
namespace {

const Layout kLayout = Layout::flat(31, 4);  // eight buckets, the last one a float shorter

/// The buckets that `parts` returns once all values from `first` on are ready.
std::optional<std::pair<std::uint32_t, std::uint32_t>> told(MadeParts& parts, std::size_t first) {
  const auto buckets = parts.made_from(first);
  if (!buckets) return {};
  return std::pair(buckets->from, buckets->to);
}

TEST(MadeParts, TellsOfBucketsThatAreWhole) {
  MadeParts parts(kLayout);
  EXPECT_EQ(told(parts, 28), std::pair(7U, 8U));
  EXPECT_FALSE(told(parts, 25)) << "the one before it lacks its first float";
  EXPECT_EQ(told(parts, 24), std::pair(6U, 7U));
  EXPECT_EQ(told(parts, 1), std::pair(1U, 6U));
}

TEST(MadeParts, TellsNothingTwice) {
  MadeParts parts(kLayout);
  EXPECT_TRUE(told(parts, 8));
  for (const std::size_t first : {8, 9, 30, 31}) EXPECT_FALSE(told(parts, first)) << first;
}

TEST(MadeParts, BeginsEachStepAnew) {
  MadeParts parts(kLayout);
  EXPECT_EQ(told(parts, 4), std::pair(1U, 8U));
  parts.boundary();
  EXPECT_EQ(told(parts, 24), std::pair(6U, 8U));
}

}  // namespace
}  // namespace stencil
