// What follows the moves of a model, such as momentum, in every type that a framework keeps it in.
#include "stencil/mix/following.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "stencil/codec/fp32_codec.h"
#include "stencil/core/half_floats.h"
#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

constexpr float kFactor = -1.5F;
constexpr std::size_t kEach = 1500;  // more than a cache block, and over the end of a bucket

/// A model whose parameter `i` is of type i, and one more that nothing follows.
Layout layout() {
  std::vector<ParameterSlot> parameters;
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kF16, ElementType::kBF16}) {
    parameters.push_back({.name = std::string(name(type)), .shape = {kEach}, .type = type});
  }
  parameters.push_back({.name = "alone", .shape = {kEach}});
  return Layout(std::move(parameters), 1024);
}

/// Values that every type can hold.
std::vector<float> coarse(std::uint64_t seed, std::size_t size) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.below(64)) / 8 - 4;
  return values;
}

/// Momentum of 2 throughout, in each type.
struct Momenta {
  std::vector<float> f32 = std::vector<float>(kEach, 2);
  std::vector<double> f64 = std::vector<double>(kEach, 2);
  std::vector<std::uint16_t> f16 = std::vector<std::uint16_t>(kEach, half_from_float(2));
  std::vector<std::uint16_t> bf16 = std::vector<std::uint16_t>(kEach, to_bf16(2));

  [[nodiscard]] double at(std::size_t i) const {
    const std::size_t within = i % kEach;
    switch (i / kEach) {
      case 0:
        return f32[within];
      case 1:
        return f64[within];
      case 2:
        return float_from_half(f16[within]);
      default:
        return float_from_bf16(bf16[within]);
    }
  }
};

class FollowingTest : public ::testing::Test {
 protected:
  FollowingTest() {
    void* const values[] = {momenta_.f32.data(), momenta_.f64.data(), momenta_.f16.data(),
                            momenta_.bf16.data()};
    for (std::size_t i = 0; i < 4; ++i) {
      Follower& one = followers_.of(i * kEach, kEach);
      one.type = static_cast<ElementType>(i);
      one.values = values[i];
      one.factor = kFactor;
    }
    mixer_.follow(followers_);
  }

  /// A neighbour's delta: z moves towards `theirs` by half of the difference.
  void average(const std::vector<float>& theirs) {
    Mixer other(layout_, theirs, std::vector<double>{});
    DenseEdgeCodec codec;
    for (std::uint32_t b = 0; b < layout_.bucket_count(); ++b) {
      std::vector<std::byte> offer(codec.offer_form(other.floats(b)).bytes);
      std::vector<std::byte> reply(offer.size());
      ASSERT_TRUE(other.offer(b, codec, offer).applied);
      ASSERT_TRUE(mixer_.answer(b, codec, offer, 2, reply).applied);
    }
  }

  /// That momentum has followed from `before` to the present x.
  void expect_followed(const std::vector<float>& before) {
    for (std::size_t i = 0; i < 4 * kEach; ++i) {
      ASSERT_EQ(momenta_.at(i), 2 + kFactor * (x_[i] - before[i])) << i;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      std::size_t moved = 0;
      for (std::size_t i = k * kEach; i < (k + 1) * kEach; ++i) moved += x_[i] != before[i] ? 1 : 0;
      EXPECT_GT(moved, 0U);
      EXPECT_EQ(followers_.of(k * kEach, kEach).moved, moved) << k;
    }
  }

  Layout layout_ = layout();
  std::vector<float> x_ = coarse(1, layout_.size());
  Momenta momenta_;
  Followers followers_;
  Mixer mixer_{layout_, x_, std::vector<double>{}};
};

TEST_F(FollowingTest, AFoldMovesWhatFollowsAndTheModelAsWithoutFollowers) {
  const std::vector<float> before = x_, theirs = coarse(2, x_.size());
  average(theirs);
  ASSERT_TRUE(mixer_.fold(x_).finite);
  expect_followed(before);
  for (std::size_t i = 0; i < x_.size(); ++i) ASSERT_EQ(x_[i], (before[i] + theirs[i]) / 2) << i;
  // Nothing came since, so nothing moves.
  ASSERT_TRUE(mixer_.fold(x_).finite);
  expect_followed(before);
}

TEST_F(FollowingTest, TheWorkersOwnStepMovesNothing) {
  for (float& value : x_) value += 1;
  ASSERT_TRUE(mixer_.fold(x_).finite);
  for (std::size_t i = 0; i < 4 * kEach; ++i) ASSERT_EQ(momenta_.at(i), 2) << i;
}

TEST_F(FollowingTest, SoDoesARoundOfLockStep) {
  const std::vector<float> before = x_, theirs = coarse(2, x_.size());
  const Fp32Codec codec;
  ASSERT_TRUE(mixer_.publish(x_, {}, codec, 0.5).finite);
  for (std::uint32_t b = 0; b < layout_.bucket_count(); ++b) {
    const BucketRange range = layout_.bucket(b);
    const auto s = std::as_bytes(std::span(theirs).subspan(range.begin, range.size));
    ASSERT_TRUE(mixer_.absorb(b, codec, s, 0.5).applied);
  }
  mixer_.collect(x_, {});
  expect_followed(before);
}

TEST_F(FollowingTest, AFactorOfZeroOrNoValuesOnlyCount) {
  const std::vector<float> before = x_;
  followers_.of(0, kEach).factor = 0;
  followers_.of(kEach, kEach).values = nullptr;
  average(coarse(2, x_.size()));
  ASSERT_TRUE(mixer_.fold(x_).finite);
  for (std::size_t i = 0; i < 2 * kEach; ++i) ASSERT_EQ(momenta_.at(i), 2) << i;
  EXPECT_GT(followers_.of(0, kEach).moved, kEach / 2);
  EXPECT_GT(followers_.of(kEach, kEach).moved, kEach / 2);
}

// One follower over all buckets, which several threads fold.
TEST(FollowingTeamTest, ATeamFoldsWhatOneThreadDoes) {
  const Layout layout = Layout::flat(1 << 20);
  const std::vector<float> initial = coarse(1, layout.size()), theirs = coarse(2, layout.size());
  std::vector<std::vector<float>> found;
  for (const int threads : {1, 4}) {
    std::vector<float> x = initial, momentum(layout.size());
    Followers followers;
    Follower& one = followers.of(0, layout.size());
    one.values = momentum.data();
    one.factor = kFactor;
    Mixer mixer(layout, x, {}, Segment(layout, kNoRank, Segment::Reach::kOwn), threads);
    mixer.follow(followers);
    for (std::uint32_t b = 0; b < layout.bucket_count(); ++b) {
      const BucketRange range = layout.bucket(b);
      const auto s = std::as_bytes(std::span(theirs).subspan(range.begin, range.size));
      ASSERT_TRUE(mixer.adopt(b, s).applied);
    }
    ASSERT_TRUE(mixer.fold(x).finite);
    EXPECT_EQ(x, theirs);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < x.size(); ++i) moved += x[i] != initial[i] ? 1 : 0;
    EXPECT_EQ(one.moved, moved);
    found.push_back(std::move(momentum));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0][1], kFactor * (theirs[1] - initial[1]));
}

}  // namespace
}  // namespace stencil
