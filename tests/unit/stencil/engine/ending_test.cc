#include "stencil/engine/ending.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

/// Rank 0 of ring:6, whose farthest worker is three hops away.
class EndingTest : public testing::Test {
 protected:
  void hear(Rank rank, std::uint32_t settled_hops) {
    lone_.at(rank).report.settled_hops = settled_hops;
    ending_.update(lone_.now, lone_.out);
  }
  void become(WorkerState state) {
    lone_.self.state = state;
    ending_.update(lone_.now, lone_.out);
  }
  test::LoneSelf lone_{"ring:6"};
  Ending ending_{lone_.self};
};

TEST_F(EndingTest, who_trains_is_not_calm_whatever_the_others_are) {
  hear(1, 4);
  hear(5, 4);
  EXPECT_EQ(ending_.settled_hops(), 0U);
  become(WorkerState::kSettling);
  EXPECT_EQ(ending_.settled_hops(), 0U);
}

TEST_F(EndingTest, calm_is_one_more_than_that_of_the_least_calm_neighbour) {
  become(WorkerState::kSettled);
  EXPECT_EQ(ending_.settled_hops(), 1U) << "neighbours have said nothing";
  hear(1, 3);
  EXPECT_EQ(ending_.settled_hops(), 1U);
  hear(5, 1);
  EXPECT_EQ(ending_.settled_hops(), 2U);
  EXPECT_FALSE(ending_.all_settled());
}

TEST_F(EndingTest, all_are_calm_when_it_has_come_from_the_farthest) {
  become(WorkerState::kSettled);
  hear(1, 3);
  hear(5, 3);
  EXPECT_EQ(ending_.settled_hops(), 4U);
  EXPECT_TRUE(ending_.all_settled());
  hear(5, 9);
  EXPECT_EQ(ending_.settled_hops(), 4U) << "more there is not";
  hear(1, 0);
  EXPECT_FALSE(ending_.all_settled()) << "one has begun to train again";
}

TEST_F(EndingTest, who_is_not_heard_holds_up_nobody) {
  lone_.at(1).state = LinkState::kSuspect;
  become(WorkerState::kSettled);
  hear(5, 3);
  EXPECT_TRUE(ending_.all_settled());
}

TEST_F(EndingTest, each_change_is_told_to_all_neighbours_once) {
  become(WorkerState::kSettled);
  EXPECT_EQ(lone_.done<action::Send>().size(), 2U);
  ending_.update(lone_.now, lone_.out);
  EXPECT_TRUE(lone_.done<action::Send>().empty());
}

/// The worker on the other side of a ring trains on: nobody may stop, near or far.
TEST_F(EndingTest, one_that_trains_keeps_all_others_from_stopping) {
  constexpr int kWorkers = 6;
  std::vector<std::uint32_t> settled_hops(kWorkers);
  std::vector<std::unique_ptr<test::LoneSelf>> lone;
  std::vector<std::unique_ptr<Ending>> ending;
  for (int i = 0; i < kWorkers; ++i) {
    lone.push_back(std::make_unique<test::LoneSelf>("ring:6"));  // by symmetry each is rank 0
    ending.push_back(std::make_unique<Ending>(lone.back()->self));
    lone.back()->self.state = i == 3 ? WorkerState::kTraining : WorkerState::kSettled;
  }
  const auto tell = [&] {
    for (int i = 0; i < kWorkers; ++i) {
      lone[i]->at(1).report.settled_hops = settled_hops[(i + 1) % kWorkers];
      lone[i]->at(5).report.settled_hops = settled_hops[(i + 5) % kWorkers];
      ending[i]->update(lone[i]->now, lone[i]->out);
    }
    for (int i = 0; i < kWorkers; ++i) settled_hops[i] = ending[i]->settled_hops();
  };
  for (int round = 0; round < 20; ++round) {
    tell();
    for (int i = 0; i < kWorkers; ++i) EXPECT_FALSE(ending[i]->all_settled()) << round << " " << i;
  }
  lone[3]->self.state = WorkerState::kSettled;
  for (int round = 0; round < 5; ++round) tell();
  for (int i = 0; i < kWorkers; ++i) EXPECT_TRUE(ending[i]->all_settled()) << i;
}

}  // namespace
}  // namespace stencil
