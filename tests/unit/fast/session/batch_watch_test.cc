#include "fast/session/batch_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What worker 2 finds where worker 1 has begun with the batch of hash `theirs`.
std::optional<stencil::Rank> found(std::uint64_t own, std::uint64_t theirs) {
  stencil::NeighbourStatus neighbour{.rank = 1};
  neighbour.first_batch = theirs;
  return BatchWatch().look(own, 2, {neighbour});
}

TEST(BatchWatch, TheBatchOfANeighbourIsFoundOnce) {
  stencil::NeighbourStatus neighbour{.rank = 1};
  neighbour.first_batch = 7;
  BatchWatch watch;
  EXPECT_EQ(watch.look(7, 2, {neighbour}), 1);
  EXPECT_FALSE(watch.look(7, 2, {neighbour}));
  EXPECT_THAT(BatchWatch::advice(2, 1),
              AllOf(HasSubstr("workers 1 and 2"), HasSubstr("ShardedSampler")));
}

TEST(BatchWatch, OtherBatchesAndUnknownOnesAreWell) {
  EXPECT_EQ(found(7, 7), 1);
  EXPECT_FALSE(found(7, 8));
  EXPECT_FALSE(found(7, 0));
  EXPECT_FALSE(found(0, 0));
}

TEST(BatchWatch, OfTwoWorkersTheHigherRankSpeaks) {
  stencil::NeighbourStatus neighbour{.rank = 3};
  neighbour.first_batch = 7;
  EXPECT_FALSE(BatchWatch().look(7, 2, {neighbour}));
}

}  // namespace
}  // namespace fast
