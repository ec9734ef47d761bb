#include "stencil/mix/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <limits>

#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

TEST(Team, CallsForEachOnce) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    for (const std::uint32_t count : {0U, 1U, 3U, 1000U}) {
      std::vector<std::atomic<int>> calls(count);
      auto work = [&](std::uint32_t i) { ++calls[i]; };
      for (int round = 1; round <= 50; ++round) {
        team.each(count, work);
        for (const auto& c : calls) ASSERT_EQ(c, round) << threads << " threads, " << count;
      }
    }
  }
}

TEST(Team, WorksSideBySide) {
  Team team(3);
  std::latch all(3);
  auto work = [&](std::uint32_t) { all.arrive_and_wait(); };
  team.each(3, work);  // would never end on fewer threads
  EXPECT_TRUE(all.try_wait());
}

TEST(Team, EndsWithoutWork) {
  for (int i = 0; i < 20; ++i) Team team(4);
}

/// A model that is large enough for a team.
class TeamOfMixer : public ::testing::Test {
 protected:
  static constexpr std::size_t kFloats = (1 << 20) + 77;

  TeamOfMixer() : x_(kFloats) {
    Random random(7);
    for (float& v : x_) v = static_cast<float>(random.uniform()) - 0.5F;
  }
  Mixer mixer(int threads) {
    return {layout_, x_, std::vector<double>{1.0}, Segment(layout_, kNoRank, Segment::Reach::kOwn),
            threads};
  }

  Layout layout_ = Layout::flat(kFloats, 1 << 14);
  std::vector<float> x_;
};

TEST_F(TeamOfMixer, FoldsAndMeetsAsOneThreadDoes) {
  std::vector<float> results[2];
  for (const int threads : {1, 4}) {
    Mixer mixer = this->mixer(threads);
    DenseEdgeCodec codec;
    std::vector<float> x = x_, theirs(kFloats, 0.25F);
    for (int step = 0; step < 3; ++step) {
      for (std::uint32_t b = 0; b < layout_.bucket_count(); ++b) {
        const BucketRange range = layout_.bucket(b);
        const auto offer = std::as_bytes(std::span(theirs).subspan(range.begin, range.size));
        std::vector<std::byte> reply(offer.size());
        ASSERT_TRUE(mixer.answer(b, codec, offer, 2, reply).applied);
      }
      for (float& v : x) v *= 1.5F;
      const FoldReport report = mixer.fold(x);
      EXPECT_EQ(report.folded, layout_.bucket_count());
      EXPECT_EQ(report.deferred, 0U);
      EXPECT_TRUE(report.finite);
    }
    results[threads / 4] = x;
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], x_);
}

TEST_F(TeamOfMixer, LockStepGivesWhatOneThreadGives) {
  std::vector<float> results[2];
  for (const int threads : {1, 4}) {
    Mixer mixer = this->mixer(threads);
    std::vector<double> telemetry{1.0};
    std::vector<float> x(kFloats);
    const FoldReport report =
        mixer.publish(x_, telemetry, *make_codec(parse_codec("fp16").number), 1.0 / 3);
    EXPECT_EQ(report.folded, layout_.bucket_count());
    EXPECT_TRUE(report.finite);
    mixer.collect(x, telemetry);
    results[threads / 4] = x;
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NEAR(results[0][5], x_[5] / 3, 1e-3);
}

TEST_F(TeamOfMixer, TellsOfWhatIsNoNumber) {
  Mixer mixer = this->mixer(3);
  std::vector<float> x = x_;
  x[kFloats - 1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(mixer.fold(x).finite);
}

TEST_F(TeamOfMixer, LeavesHeldBucketsForTheNextBoundary) {
  Mixer mixer = this->mixer(3);
  std::vector<float> x = x_;
  const BucketGuard held = BucketGuard::wait(mixer.segment().control(3));
  FoldReport report;
  std::thread([&] { report = mixer.fold(x); }).join();
  EXPECT_EQ(report.deferred, 1U);
  EXPECT_EQ(report.folded, layout_.bucket_count() - 1);
}

}  // namespace
}  // namespace stencil
