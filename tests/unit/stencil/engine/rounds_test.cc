#include "stencil/engine/rounds.h"

#include <gtest/gtest.h>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

/// Rank 0 of ring:3 in lock step, with two buckets, between ranks 1 and 2.
class RoundsTest : public testing::Test {
 protected:
  void publish(std::uint64_t round) {
    rounds_.on_published(lone_.now, round, lone_.out);
    puller_.issue(lone_.now, lone_.out);
  }
  void pull(Rank rank, std::uint32_t bucket, std::uint64_t round) {
    rounds_.on_pull(lone_.at(rank), Pull{.bucket = bucket, .round = round}, lone_.out);
  }
  bool snapshot(Rank rank, std::uint32_t bucket, std::uint64_t round) {
    EXPECT_TRUE(puller_.plan().complete(rank, bucket, round));
    const bool last = rounds_.on_snapshot(lone_.now, lone_.at(rank),
                                          Snapshot{.bucket = bucket, .round = round}, lone_.out);
    puller_.issue(lone_.now, lone_.out);
    return last;
  }
  test::LoneSelf lone_{"ring:3", "sync", 2};
  Puller puller_{lone_.self};
  Rounds rounds_{lone_.self, puller_};
};

TEST_F(RoundsTest, is_complete_when_every_bucket_of_every_neighbour_has_come_in_rank_order) {
  publish(1);
  EXPECT_EQ(lone_.done<action::Send>().size(), 2U) << "each bucket of rank 1";
  EXPECT_FALSE(snapshot(1, 1, 1));
  EXPECT_FALSE(snapshot(2, 1, 1)) << "rank 2 was asked for it next";
  EXPECT_FALSE(snapshot(1, 0, 1));
  EXPECT_EQ(rounds_.completed(), 0U);
  EXPECT_TRUE(snapshot(2, 0, 1));
  EXPECT_EQ(rounds_.completed(), 1U);
  EXPECT_EQ(lone_.self.step(), 1U);
}

TEST_F(RoundsTest, a_pull_waits_for_the_round_to_be_published) {
  pull(1, 1, 1);
  EXPECT_TRUE(lone_.done<action::Serve>().empty());
  publish(1);
  const auto served = lone_.done<action::Serve>();
  ASSERT_EQ(served.size(), 1U);
  EXPECT_EQ(served[0].to, 1);
  EXPECT_EQ(served[0].bucket, 1U);
  publish(2);
  EXPECT_TRUE(lone_.done<action::Serve>().empty()) << "once";
}

TEST_F(RoundsTest, no_more_wait_than_a_window_of_each) {
  for (std::uint32_t i = 0; i < 10 * lone_.self.config.window; ++i) pull(1, 0, 1);
  pull(2, 0, 1);
  publish(1);
  EXPECT_EQ(lone_.done<action::Serve>().size(), lone_.self.config.window + 1);
}

TEST_F(RoundsTest, a_round_that_is_over_is_not_served_again) {
  publish(1);
  publish(2);
  (void)lone_.done<action::Serve>();
  pull(1, 0, 1);
  EXPECT_TRUE(lone_.done<action::Serve>().empty());
  EXPECT_EQ(lone_.self.counters.duplicates, 1U);
}

TEST_F(RoundsTest, a_bucket_that_there_is_not_is_served_to_nobody) {
  publish(1);
  (void)lone_.done<action::Serve>();
  pull(1, 2, 1);
  pull(1, UINT32_MAX, 1);
  EXPECT_TRUE(lone_.done<action::Serve>().empty());
}

TEST_F(RoundsTest, the_neighbours_have_completed_what_the_last_of_them_has) {
  lone_.they_step_to(1, 2);
  lone_.they_step_to(2, 1);
  EXPECT_TRUE(rounds_.neighbours_completed(1));
  EXPECT_FALSE(rounds_.neighbours_completed(2));
}

}  // namespace
}  // namespace stencil
