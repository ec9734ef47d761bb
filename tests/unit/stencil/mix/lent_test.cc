// Buckets that the training thread has lent are folded by the background thread.
#include "stencil/mix/lent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

using ::testing::Each;

constexpr std::size_t kFloats = 200, kBucket = 100;

/// Two models of two buckets, all 1 and all 3.
class LentTest : public ::testing::Test {
 protected:
  LentTest() { theirs_.segment().admit(true); }
  /// Brings z of ours to the mean.
  void average(std::uint32_t bucket) {
    EXPECT_TRUE(ours_.average_shared(bucket, theirs_.segment(), false).applied);
  }
  void lend_all() { ours_.lend(x_, std::array<std::uint8_t, 2>{1, 1}); }
  [[nodiscard]] std::vector<float> part(std::uint32_t bucket) const {
    const auto begin = x_.begin() + static_cast<std::ptrdiff_t>(bucket * kBucket);
    return {begin, begin + kBucket};
  }

  std::vector<float> their_x_ = std::vector<float>(kFloats, 3.0F);
  const Layout layout_ = Layout::flat(kFloats, kBucket);
  std::vector<float> x_ = std::vector<float>(kFloats, 1.0F);
  std::vector<double> scalars_ = {0};
  Mixer ours_{layout_, x_, scalars_};
  Mixer theirs_{layout_, their_x_, scalars_};
};

constexpr auto all = [](std::uint32_t) { return true; };

TEST_F(LentTest, what_has_come_is_folded_into_what_is_lent_and_nothing_else) {
  average(0);
  average(1);
  ours_.fold_lent(all);
  EXPECT_THAT(x_, Each(1)) << "it is the training thread's";
  ours_.lend(x_, std::array<std::uint8_t, 2>{0, 1});
  ours_.fold_lent(all);
  EXPECT_THAT(part(0), Each(1));
  EXPECT_THAT(part(1), Each(2));
  EXPECT_EQ(ours_.fold_news(x_).folded, 1U) << "the other is not folded again";
  EXPECT_THAT(x_, Each(2));
}

TEST_F(LentTest, only_what_is_complete_is_folded) {
  lend_all();
  average(0);
  average(1);
  ours_.fold_lent([](std::uint32_t bucket) { return bucket == 0; });
  EXPECT_THAT(part(0), Each(2));
  EXPECT_THAT(part(1), Each(1));
}

TEST_F(LentTest, what_was_taken_back_is_left_alone_by_all_ways_of_taking_it) {
  const std::vector<void (*)(Mixer&, std::vector<float>&)> ways = {
      [](Mixer& mixer, std::vector<float>&) { mixer.take_back(0, 2); },
      [](Mixer& mixer, std::vector<float>& x) { (void)mixer.fold(x); },
      [](Mixer& mixer, std::vector<float>& x) { (void)mixer.fold_news(x); },
      [](Mixer& mixer, std::vector<float>& x) { (void)mixer.fold_news_of(x, 0, 2); }};
  for (const auto& way : ways) {
    lend_all();
    way(ours_, x_);
    const float before = x_[0];
    theirs_.segment().y()[0] += 4;
    average(0);
    ours_.fold_lent(all);
    EXPECT_EQ(x_[0], before);
  }
}

TEST_F(LentTest, what_is_not_finite_is_told_by_the_next_fold) {
  x_[7] = std::nanf("");
  lend_all();
  average(0);
  ours_.fold_lent(all);
  x_[7] = 1;
  EXPECT_FALSE(ours_.fold_news_of(x_, 1, 2).finite);
  EXPECT_TRUE(ours_.fold_news_of(x_, 1, 2).finite);
}

TEST_F(LentTest, momentum_follows) {
  std::vector<float> momentum(kFloats, 10.0F);
  Followers followers;
  ours_.follow(followers);
  Follower& follower = followers.of(0, kFloats);
  follower.values = momentum.data();
  follower.factor = -1;
  follower.decay = 0.9;
  lend_all();
  average(0);
  ours_.fold_lent(all);
  EXPECT_EQ(momentum[0], 9);
  EXPECT_EQ(momentum[kBucket], 10);
}

/// Each thread does so while the other is at work; what a bucket holds is never one thread's while
/// the other changes it (a build with TSan sees that), and the mean is kept.
TEST_F(LentTest, two_threads_hand_buckets_to_and_fro) {
  constexpr int kRounds = 3000;
  std::atomic<bool> ended{false};
  std::thread background([&] {
    for (std::uint32_t i = 0; !ended; ++i) {
      average(i % 2);
      ours_.fold_lent(all);
      (void)theirs_.fold(their_x_);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    lend_all();
    if (round % 3 == 0) std::this_thread::yield();
    for (const std::uint32_t bucket : {0U, 1U}) {
      (void)ours_.fold_news_of(x_, bucket, bucket + 1);
      for (std::size_t i = bucket * kBucket; i < (bucket + 1) * kBucket; ++i) x_[i] += 1;
    }
    EXPECT_TRUE(ours_.fold(x_).finite);
  }
  ended = true;
  background.join();
  EXPECT_EQ(ours_.fold(x_).deferred, 0U)
      << "the other thread may have had a bucket at the last one";
  std::vector<float> ours(kFloats), theirs(kFloats);
  ours_.read_z(ours);
  theirs_.read_z(theirs);
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(ours[i] + theirs[i], 4 + kRounds, 0.1) << i;
}

}  // namespace
}  // namespace stencil
