#include "stencil/core/followers.h"

#include <gtest/gtest.h>

#include "stencil/core/error.h"

namespace stencil {
namespace {

TEST(FollowersTest, AreFoundByPlaceWhateverTheOrderInWhichTheyCame) {
  Followers all;
  EXPECT_TRUE(all.empty());
  all.of(30, 10).factor = 3;
  all.of(0, 5).factor = 1;
  all.of(5, 5).factor = 2;
  EXPECT_EQ(all.from(0)->factor, 1);
  EXPECT_EQ(all.from(4)->factor, 1);
  EXPECT_EQ(all.from(5)->factor, 2);
  EXPECT_EQ(all.from(12)->factor, 3) << "the next one, behind a gap";
  EXPECT_EQ(all.from(39)->factor, 3);
  EXPECT_EQ(all.from(40), all.end());
  EXPECT_EQ(all.of(5, 5).factor, 2) << "not a new one";
  all.clear();
  EXPECT_TRUE(all.empty());
}

TEST(FollowersTest, ThatOverlapAreRefused) {
  Followers all;
  (void)all.of(10, 10);
  EXPECT_THROW((void)all.of(5, 6), InvariantError);
  EXPECT_THROW((void)all.of(15, 2), InvariantError);
  EXPECT_THROW((void)all.of(10, 9), InvariantError);
  EXPECT_NO_THROW((void)all.of(5, 5));
  EXPECT_NO_THROW((void)all.of(20, 1));
}

}  // namespace
}  // namespace stencil
