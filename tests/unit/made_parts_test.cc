#include "stencil/runtime/made_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace stencil {
namespace {

const Layout kLayout = Layout::flat(31, 4);  // eight buckets, the last one a float shorter

/// As early as there is: after boundaries whose sweeps came late.
MadeParts early() {
  MadeParts parts(kLayout);
  for (int i = 0; i < 20; ++i) parts.boundary(false);
  EXPECT_EQ(parts.late(), 1U);
  return parts;
}

TEST(MadeParts, FoldsBucketsOnceTheyAreWhole) {
  MadeParts parts(kLayout);
  const auto none = parts.made_from(29);
  EXPECT_EQ(none.fold_from, none.fold_to) << "the last bucket lacks its first float";
  const auto last = parts.made_from(28);
  EXPECT_EQ(std::pair(last.fold_from, last.fold_to), std::pair(7U, 8U));
  const auto first = parts.made_from(0);
  EXPECT_EQ(std::pair(first.fold_from, first.fold_to), std::pair(0U, 7U));
}

TEST(MadeParts, HasNothingNewToSayOfWhatWasMadeBefore) {
  MadeParts parts = early();
  (void)parts.made_from(8);
  for (const std::size_t first : {8, 9, 30, 31}) {
    const auto again = parts.made_from(first);
    EXPECT_EQ(again.fold_from, again.fold_to) << first;
    EXPECT_FALSE(again.tell) << first;
  }
}

TEST(MadeParts, TellsOfNothingBeforeTheBoundaryWhereSweepsComeInTime) {
  MadeParts parts(kLayout);
  for (int step = 0; step < 3; ++step) {
    for (const std::size_t first : {28, 14, 0}) EXPECT_FALSE(parts.made_from(first).tell);
    parts.boundary(true);
  }
}

TEST(MadeParts, TellsAnEighthLateWhereTheyDoNot) {
  MadeParts parts = early();
  std::vector<std::uint32_t> told;
  for (std::size_t bucket = 8; bucket-- > 0;) {
    const auto news = parts.made_from(4 * bucket);
    EXPECT_EQ(news.tell.has_value(), bucket < 7);
    if (news.tell) told.push_back(*news.tell);
  }
  EXPECT_EQ(told, (std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1}));
  parts.boundary(false);
  EXPECT_FALSE(parts.made_from(28).tell) << "each step begins anew";
}

TEST(MadeParts, BecomesEarlierAtOnceAndLaterAgainWhenThatIsProven) {
  MadeParts parts(kLayout);
  const std::uint32_t latest = parts.late();
  parts.boundary(false);
  parts.boundary(false);
  EXPECT_EQ(parts.late(), latest - 2);
  for (int i = 0; i < 3; ++i) parts.boundary(true);
  EXPECT_EQ(parts.late(), latest - 2);
  parts.boundary(true);
  EXPECT_EQ(parts.late(), latest - 1);
  for (int i = 0; i < 100; ++i) parts.boundary(true);
  EXPECT_EQ(parts.late(), latest);
}

}  // namespace
}  // namespace stencil
