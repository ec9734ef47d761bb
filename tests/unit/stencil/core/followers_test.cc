#include "stencil/core/followers.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

TEST(FollowersTest, AreCutIntoBlocksOfWhichNoneLiesInTwoBuckets) {
  for (const auto& [bucket, block] : std::vector<std::pair<std::size_t, std::size_t>>{
           {64 * 1024, 1024}, {1024, 1024}, {768, 256}, {64, 64}}) {
    Followers all;
    all.cut_by(bucket);
    EXPECT_EQ(all.block_floats(), block) << bucket;
    EXPECT_EQ(all.of(0, block).blocks.size(), 1U);
    EXPECT_EQ(all.of(block, block + 1).blocks.size(), 2U);
    EXPECT_EQ(all.of(3 * block - 1, 2 * block).blocks.size(), 3U);
    EXPECT_EQ(all.of(9 * block, 0).blocks.size(), 0U);
  }
}

TEST(FollowersTest, ThatStopKnowNothingAnyMore) {
  Followers all;
  Follower& one = all.of(0, 10);
  float value = 1;
  one.values = &value;
  one.factor = -1;
  one.blocks[0] = {.own = 3, .length = 2, .step = 1};
  one.stop();
  EXPECT_EQ(one.values, nullptr);
  EXPECT_EQ(one.factor, 0);
  EXPECT_EQ(one.blocks[0].own, 0);
  EXPECT_EQ(one.blocks[0].length, 0);
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
