// What followers are not to take in of what came from neighbours of another pace.
#include "stencil/mix/set_aside.h"

#include <gtest/gtest.h>

#include <vector>

#include "stencil/codec/fp32_codec.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

TEST(SetAsideTest, SumsUpTheShareOfEachChangeUntilItIsCleared) {
  const Layout layout = Layout::flat(2500, 1024);
  SetAside aside(layout);
  std::vector<float> p(1024, 1);
  EXPECT_EQ(aside.of(1), nullptr);
  EXPECT_EQ(aside.around(1, p, 0, [&] { return p[0] = 3; }), 3) << "what the change returns";
  EXPECT_EQ(aside.of(1), nullptr) << "nothing of that";
  (void)aside.around(1, p, 0.5, [&] { return p[7] += 4; });
  (void)aside.around(1, p, 1, [&] { return p[7] -= 1; });
  ASSERT_NE(aside.of(1), nullptr);
  EXPECT_EQ(aside.of(1)[1024 + 7], 1);
  EXPECT_EQ(aside.of(1)[1024 + 8], 0);
  EXPECT_EQ(aside.of(0), nullptr);
  aside.clear(1);
  EXPECT_EQ(aside.of(1), nullptr);
  (void)aside.around(1, p, 1, [&] { return p[0] += 1; });
  EXPECT_EQ(aside.of(1)[1024 + 7], 0);
  std::vector<float> last(452);
  (void)aside.around(2, last, 1, [&] { return last[451] = 2; });
  EXPECT_EQ(aside.of(2)[2499], 2);
}

/// One bucket in which two workers average by each of the ways; the second's followers must take in
/// all but `kAside` of what each moves.
class MixerSetsAsideTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFloats = 1500;
  static constexpr double kAside = 0.75;

  MixerSetsAsideTest() {
    mixer_.follow(followers_);
    Follower& one = followers_.of(0, kFloats);
    one.values = momentum_.data();
    one.factor = -1;
    for (Follower::Block& block : one.blocks) block.own = 1e9F;  // a bound that is not met
    (void)mixer_.fold(x_);                                       // it knows of its followers
  }
  void expect_taken_in(double moved) {
    ASSERT_TRUE(mixer_.fold(x_).finite);
    for (std::size_t i = 0; i < kFloats; ++i) {
      ASSERT_EQ(x_[i], moved) << i;
      ASSERT_FLOAT_EQ(momentum_[i], static_cast<float>(-(1 - kAside) * moved)) << i;
    }
    ASSERT_TRUE(mixer_.fold(x_).finite);
    ASSERT_FLOAT_EQ(momentum_[0], static_cast<float>(-(1 - kAside) * moved)) << "only once";
  }
  std::vector<std::byte> room() { return std::vector<std::byte>(4 * kFloats); }

  Layout layout_ = Layout::flat(kFloats, 2048);
  std::vector<float> x_ = std::vector<float>(kFloats, 0), momentum_ = std::vector<float>(kFloats);
  std::vector<float> others_ = std::vector<float>(kFloats, 8);
  Followers followers_;
  DenseEdgeCodec codec_;
  Mixer mixer_{layout_, x_, {}, Segment(layout_, 1, Segment::Reach::kShared)};
  Mixer other_{layout_, others_, {}, Segment(layout_, 0, Segment::Reach::kShared)};
};

TEST_F(MixerSetsAsideTest, OfAnAnswer) {
  std::vector<std::byte> offer = room(), reply = room();
  ASSERT_TRUE(other_.offer(0, codec_, offer).applied);
  ASSERT_TRUE(mixer_.answer(0, codec_, offer, 2, reply, kAside).applied);
  expect_taken_in(4);
}

TEST_F(MixerSetsAsideTest, OfACompletedRequest) {
  std::vector<std::byte> offer = room(), reply = room();
  ASSERT_TRUE(mixer_.offer(0, codec_, offer).applied);
  ASSERT_TRUE(other_.answer(0, codec_, offer, 2, reply).applied);
  ASSERT_TRUE(mixer_.complete(0, codec_, offer, reply, 2, kAside).applied);
  expect_taken_in(4);
}

TEST_F(MixerSetsAsideTest, OfACrossing) {
  std::vector<std::byte> ours = room(), theirs = room();
  ASSERT_TRUE(mixer_.offer(0, codec_, ours).applied);
  ASSERT_TRUE(other_.offer(0, codec_, theirs).applied);
  ASSERT_TRUE(mixer_.merge(0, codec_, {ours, true}, {theirs, true}, kAside).applied);
  expect_taken_in(4);
}

TEST_F(MixerSetsAsideTest, OfAMeetingInSharedMemory) {
  other_.segment().admit(true);
  ASSERT_TRUE(mixer_.average_shared(0, other_.segment(), true, kAside).applied);
  expect_taken_in(4);
}

TEST_F(MixerSetsAsideTest, NothingOfAModelThatIsTakenOver) {
  std::vector<std::byte> offer = room(), reply = room();
  ASSERT_TRUE(other_.offer(0, codec_, offer).applied);
  ASSERT_TRUE(mixer_.answer(0, codec_, offer, 2, reply, kAside).applied);
  ASSERT_TRUE(mixer_.adopt(0, std::as_bytes(std::span(others_))).applied);
  followers_.of(0, kFloats).factor = 0;
  ASSERT_TRUE(mixer_.fold(x_).finite);
  EXPECT_EQ(x_[0], 8);
  EXPECT_EQ(momentum_[0], 0);
}

}  // namespace
}  // namespace stencil
