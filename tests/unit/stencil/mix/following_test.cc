// What follows the moves of a model, such as momentum, in every type that a framework keeps it in.
#include "stencil/mix/following.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "stencil/codec/fp32_codec.h"
#include "stencil/core/half_floats.h"
#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

constexpr float kFactor = -1.5F;
constexpr float kFarOff = 1e6F;      // a bound that is not met
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
    mixer_.follow(followers_);
    for (std::size_t i = 0; i < 4; ++i) {
      Follower& one = followers_.of(i * kEach, kEach);
      one.type = static_cast<ElementType>(i);
      one.values = values[i];
      one.factor = kFactor;
      for (Follower::Block& block : one.blocks) block.own = kFarOff;
    }
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

TEST_F(FollowingTest, ScalesByHowLikeTheStepsAreInLength) {
  const std::vector<float> before = x_;
  followers_.likeness = 0.25;
  average(coarse(2, x_.size()));
  ASSERT_TRUE(mixer_.fold(x_).finite);
  for (std::size_t i = 0; i < 2 * kEach; ++i) {
    ASSERT_EQ(momenta_.at(i), 2 + 0.25F * kFactor * (x_[i] - before[i])) << i;
  }
}

// One follower over all buckets, which several threads fold; where its bound is met, too.
class FollowingTeamTest : public ::testing::TestWithParam<float> {};
INSTANTIATE_TEST_SUITE_P(Bounds, FollowingTeamTest, ::testing::Values(kFarOff, 50.0F));

TEST_P(FollowingTeamTest, ATeamFoldsWhatOneThreadDoes) {
  const Layout layout = Layout::flat(1 << 20);
  const std::vector<float> initial = coarse(1, layout.size()), theirs = coarse(2, layout.size());
  std::vector<std::vector<float>> found;
  for (const int threads : {1, 4}) {
    std::vector<float> x = initial, momentum(layout.size());
    Followers followers;
    Mixer mixer(layout, x, {}, Segment(layout, kNoRank, Segment::Reach::kOwn), threads);
    mixer.follow(followers);
    Follower& one = followers.of(0, layout.size());
    one.values = momentum.data();
    one.factor = kFactor;
    for (Follower::Block& block : one.blocks) block.own = GetParam();
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
  if (GetParam() < kFarOff) {
    const double length2 =
        std::inner_product(found[0].begin(), found[0].begin() + 1024, found[0].begin(), 0.0);
    EXPECT_NEAR(std::sqrt(length2), GetParam(), 1e-3) << "of one block";
  } else {
    EXPECT_EQ(found[0][1], kFactor * (theirs[1] - initial[1]));
  }
}

/// A worker's steps, m <- 0.9 m + g, and what others do to its model, in one type.
template <typename Stored>
class Owner {
 public:
  static constexpr double kDecay = 0.9;
  static constexpr std::size_t kFloats = 2500, kBegin = 700;  // blocks begin at multiples of 1024

  Owner(ElementType type, std::function<double(Stored)> read, std::function<Stored(double)> write)
      : read_(std::move(read)), write_(std::move(write)), values_(kFloats, write_(0)) {
    Follower& one = follower();
    one.type = type;
    one.values = values_.data();
    one.factor = -2;
    one.decay = kDecay;
    reach_.resize(one.blocks.size());
  }

  [[nodiscard]] double at(std::size_t i) const { return read_(values_[i]); }
  [[nodiscard]] Follower& follower() { return followers_.of(kBegin, kFloats); }

  void step(double size) {
    std::vector<double> g2(reach_.size());
    for (std::size_t i = 0; i < kFloats; ++i) {
      const double before = at(i);
      values_[i] = write_(kDecay * before + size * random_.normal());
      g2[block(i)] += std::pow(at(i) - kDecay * before, 2);  // as it was stored
    }
    for (std::size_t b = 0; b < g2.size(); ++b) {
      reach_[b] = kDecay * reach_[b] + std::sqrt(g2[b]);
    }
    ++follower().step;
  }
  /// value i of the model becomes moved(i).
  template <typename Moved>
  void move(Moved moved) {
    change_followed(&followers_, x_, 0, x_.size(), [&](std::size_t begin, std::size_t n) {
      for (std::size_t i = begin; i < begin + n; ++i) x_[i] = static_cast<float>(moved(i));
    });
  }
  [[nodiscard]] const std::vector<float>& x() const { return x_; }

  /// The longest that a block is, over what it may be at most.
  [[nodiscard]] double most() const {
    std::vector<double> length2(reach_.size());
    for (std::size_t i = 0; i < kFloats; ++i) length2[block(i)] += at(i) * at(i);
    double most = 0;
    for (std::size_t b = 0; b < reach_.size(); ++b) {
      most = std::max(most, std::sqrt(length2[b]) / reach_[b]);
    }
    return most;
  }

 private:
  static std::size_t block(std::size_t i) { return (kBegin + i) / 1024 - kBegin / 1024; }

  std::function<double(Stored)> read_;
  std::function<Stored(double)> write_;
  std::vector<Stored> values_;
  std::vector<float> x_ = std::vector<float>(4000);
  Followers followers_;
  std::vector<double> reach_;  // by block: sum of 0.9^k |g of k steps ago|
  Random random_{7};
};

/// Calls work(owner, tolerance) for an owner of each type.
template <typename Work>
void for_each_type(Work work) {
  const auto as_is = [](auto value) { return value; };
  work(Owner<float>(ElementType::kF32, as_is, as_is), 1e-5);
  work(Owner<double>(ElementType::kF64, as_is, as_is), 1e-6);
  work(Owner<std::uint16_t>(ElementType::kF16, float_from_half,
                            [](double value) { return to_half(static_cast<float>(value)); }),
       1e-2);
  work(Owner<std::uint16_t>(ElementType::kBF16, float_from_bf16,
                            [](double value) { return to_bf16(static_cast<float>(value)); }),
       2e-2);
}

/// Whatever neighbours do: towards the owner's own steps, as far as they like, seldom or often.
TEST(BoundOfFollowing, ValuesAreNeverLongerThanTheOwnersOwnVectorsCanMakeThem) {
  for_each_type([](auto owner, double tolerance) {
    Random random(static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
    double longest = 0;
    for (int step = 0; step < 200; ++step) {
      owner.step(step % 50 == 0 ? 4 : 1);
      const int moves = static_cast<int>(random.below(4));
      for (int k = 0; k < moves; ++k) {
        const double far = std::pow(10, random.uniform() * 4 - 2);
        owner.move([&](std::size_t i) {
          const bool within = i >= owner.kBegin && i < owner.kBegin + owner.kFloats;
          return owner.x()[i] - (within ? far * owner.at(i - owner.kBegin) : 0);
        });
        longest = std::max(longest, owner.most());
        ASSERT_LE(owner.most(), 1 + tolerance) << "step " << step;
      }
    }
    EXPECT_GT(longest, 0.3) << "the bound is of no use if nothing comes near it";
  });
}

TEST(BoundOfFollowing, WhatWouldBeTooLongIsTurnedAsFarAsItWould) {
  for_each_type([](auto owner, double tolerance) {
    owner.step(1);
    std::vector<double> before(owner.kFloats), wanted(owner.kFloats);
    for (std::size_t i = 0; i < owner.kFloats; ++i) {
      before[i] = owner.at(i);
      wanted[i] = before[i] - 2 * (i % 2 == 0 ? 40 : -10);
    }
    owner.move([&](std::size_t i) { return (i - owner.kBegin) % 2 == 0 ? 40 : -10; });
    // The block in the middle is a whole one.
    const std::size_t from = 1024 - owner.kBegin, to = 2048 - owner.kBegin;
    double before2 = 0, after2 = 0, wanted2 = 0;
    for (std::size_t i = from; i < to; ++i) {
      before2 += before[i] * before[i];
      after2 += owner.at(i) * owner.at(i);
      wanted2 += wanted[i] * wanted[i];
    }
    EXPECT_NEAR(std::sqrt(after2), std::sqrt(before2), tolerance * std::sqrt(before2));
    for (std::size_t i = from; i < to; ++i) {
      ASSERT_NEAR(owner.at(i), wanted[i] * std::sqrt(before2 / wanted2), 2 * tolerance) << i;
    }
  });
}

TEST(BoundOfFollowing, AMoveThatIsNotFiniteChangesNothing) {
  for_each_type([](auto owner, double) {
    owner.step(1);
    const double before = owner.at(0);
    owner.move([&](std::size_t) { return std::numeric_limits<double>::infinity(); });
    EXPECT_EQ(owner.at(0), before);
  });
}

}  // namespace
}  // namespace stencil
