#include "stencil/runtime/made_parts.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

// Buckets of 4, 4 and 3 floats.
const Layout kLayout = Layout::flat(11, 4);

TEST(MadeParts, FoldsBucketsOnceTheyAreWholeAndTellsOfThemOnePartLate) {
  MadeParts parts(kLayout);
  const auto none = parts.made_from(9);
  EXPECT_EQ(none.fold_from, none.fold_to) << "the last bucket lacks its first float";
  EXPECT_FALSE(none.tell);
  const auto last = parts.made_from(8);
  EXPECT_EQ(std::pair(last.fold_from, last.fold_to), std::pair(2U, 3U));
  EXPECT_FALSE(last.tell);
  const auto first = parts.made_from(0);
  EXPECT_EQ(std::pair(first.fold_from, first.fold_to), std::pair(0U, 2U));
  EXPECT_EQ(first.tell, 2U);
}

TEST(MadeParts, HasNothingNewToSayOfWhatWasMadeBefore) {
  MadeParts parts(kLayout);
  (void)parts.made_from(4);
  for (const std::size_t first : {4, 5, 8, 11}) {
    const auto again = parts.made_from(first);
    EXPECT_EQ(again.fold_from, again.fold_to) << first;
    EXPECT_FALSE(again.tell) << first;
  }
}

TEST(MadeParts, BeginsAnewWithEachStep) {
  MadeParts parts(kLayout);
  (void)parts.made_from(0);
  parts.boundary();
  const auto again = parts.made_from(4);
  EXPECT_EQ(std::pair(again.fold_from, again.fold_to), std::pair(1U, 3U));
  EXPECT_FALSE(again.tell);
}

}  // namespace
}  // namespace stencil
