// Parameters that a framework keeps in 16 bits: models are rounded to their type, and the mean over
// workers keeps what rounding loses.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stencil/codec/fp32_codec.h"
#include "stencil/core/half_floats.h"
#include "stencil/core/layout.h"
#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

constexpr std::size_t kFloats = 3000;

float rounded(float value, ElementType type) {
  if (type == ElementType::kBF16) {
    return float_from_bf16(bf16_from_bits(std::bit_cast<std::uint32_t>(value)));
  }
  return type == ElementType::kF16 ? float_from_half(half_from_float(value)) : value;
}

/// Half of the distance between neighbouring values of 1 and a little more, over 1.
double half_ulp(ElementType type) {
  if (type == ElementType::kBF16) return std::ldexp(1, -8);
  return type == ElementType::kF16 ? std::ldexp(1, -11) : std::ldexp(1, -24);
}

class RoundedTest : public ::testing::TestWithParam<ElementType> {
 protected:
  RoundedTest() {
    const int seed = ::testing::UnitTest::GetInstance()->random_seed();
    RecordProperty("seed", seed);
    random_ = Random(static_cast<std::uint64_t>(seed));
    for (auto& x : x_) {
      x.resize(kFloats);
      for (float& value : x) value = rounded(static_cast<float>(random_.normal()), GetParam());
      mixers_.push_back(std::make_unique<Mixer>(layout_, x, std::vector<double>{}));
    }
  }

  /// Sums over workers of each value as the network sees it.
  std::vector<double> sums() {
    std::vector<double> sum(kFloats);
    std::vector<float> z(kFloats);
    for (const auto& mixer : mixers_) {
      mixer->read_z(z);
      for (std::size_t i = 0; i < kFloats; ++i) sum[i] += z[i];
    }
    return sum;
  }

  void average(int from, int to) {
    DenseEdgeCodec codec;  // exact
    for (std::uint32_t b = 0; b < layout_.bucket_count(); ++b) {
      std::vector<std::byte> offer(codec.offer_form(mixers_[from]->floats(b)).bytes);
      std::vector<std::byte> reply(offer.size());
      ASSERT_TRUE(mixers_[from]->offer(b, codec, offer).applied);
      ASSERT_TRUE(mixers_[to]->answer(b, codec, offer, 2, reply).applied);
      ASSERT_TRUE(mixers_[from]->complete(b, codec, offer, reply, 2).applied);
      mixers_[from]->close_request(b);
    }
  }

  void expect_held_by_type(const std::vector<float>& x) {
    for (const float value : x) ASSERT_EQ(value, rounded(value, GetParam()));
  }

  Layout layout_{{{.name = "a", .shape = {kFloats}, .type = GetParam()}}, 1200};
  Random random_{0};
  std::vector<float> x_[3];
  std::vector<std::unique_ptr<Mixer>> mixers_;
};

// For values of about 1: float32's own rounding of a few sums, whatever the type. Without the
// remainders, 200 roundings of bfloat16 would move a mean by about 0.01.
TEST_P(RoundedTest, TheMeanIsKeptOverManyBoundaries) {
  const auto before = sums();
  for (int round = 0; round < 200; ++round) {
    const int from = static_cast<int>(random_.below(3));
    average(from, static_cast<int>(from + 1 + random_.below(2)) % 3);
    const auto worker = random_.below(3);
    ASSERT_TRUE(mixers_[worker]->fold(x_[worker]).finite);
    expect_held_by_type(x_[worker]);
  }
  const auto after = sums();
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i], 2e-5) << i;
}

TEST_P(RoundedTest, AModelIsWhatTheNetworkSeesToHalfAnUlp) {
  average(0, 1);
  (void)mixers_[0]->fold(x_[0]);
  std::vector<float> z(kFloats);
  mixers_[0]->read_z(z);
  for (std::size_t i = 0; i < kFloats; ++i) {
    const double scale = std::max(std::abs(z[i]), std::ldexp(1.0F, -14));
    ASSERT_LE(std::abs(x_[0][i] - z[i]), 2 * half_ulp(GetParam()) * scale) << i;
  }
}

TEST_P(RoundedTest, WhatIsNotANumberIsFoundAndNotRoundedToOne) {
  x_[0][7] = std::numeric_limits<float>::infinity();
  x_[0][1500] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(mixers_[0]->fold(x_[0]).finite);
  EXPECT_TRUE(std::isinf(x_[0][7]));
  EXPECT_TRUE(std::isnan(x_[0][1500]));
}

TEST_P(RoundedTest, TheMeanIsKeptInLockStep) {
  const Fp32Codec codec;
  std::vector<double> none;
  std::vector<double> before(kFloats), after(kFloats);
  for (const auto& x : x_) {
    for (std::size_t i = 0; i < kFloats; ++i) before[i] += x[i];
  }
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(mixers_[i]->publish(x_[i], none, codec, 1.0 / 3).finite);
    }
    for (int i = 0; i < 3; ++i) {
      for (std::uint32_t b = 0; b < layout_.bucket_count(); ++b) {
        std::vector<std::byte> s(4 * mixers_[i]->floats(b));
        for (const int j : {(i + 1) % 3, (i + 2) % 3}) {
          ASSERT_TRUE(mixers_[j]->snapshot(b, codec, s).applied);
          ASSERT_TRUE(mixers_[i]->absorb(b, codec, s, 1.0 / 3).applied);
        }
      }
    }
    for (int i = 0; i < 3; ++i) {
      mixers_[i]->collect(x_[i], none);
      expect_held_by_type(x_[i]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    const std::span<const float> p = mixers_[i]->segment().p();
    for (std::size_t k = 0; k < kFloats; ++k) {
      after[k] += x_[i][k];
      if (rounds(GetParam())) after[k] += p[k];  // the start of the next round
    }
  }
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i], 2e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Types, RoundedTest,
                         ::testing::Values(ElementType::kF32, ElementType::kF64, ElementType::kF16,
                                           ElementType::kBF16),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(RoundedTest, TypesMayChangeWithinABucket) {
  const Layout layout({{.name = "a", .shape = {5}},
                       {.name = "empty", .shape = {0}, .type = ElementType::kF16},
                       {.name = "b", .shape = {7}, .type = ElementType::kBF16},
                       {.name = "c", .shape = {9}, .type = ElementType::kBF16},
                       {.name = "d", .shape = {3}, .type = ElementType::kF64}},
                      16);
  std::vector<TypedRange> parts;
  for (std::size_t b = 0; b < layout.bucket_count(); ++b) {
    layout.visit_parts(b, [&](TypedRange part) { parts.push_back(part); });
  }
  ASSERT_EQ(parts.size(), 4U);
  const std::vector<TypedRange> expected = {{0, 5, ElementType::kF32},
                                            {5, 11, ElementType::kBF16},
                                            {16, 5, ElementType::kBF16},
                                            {21, 3, ElementType::kF32}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].begin, expected[i].begin);
    EXPECT_EQ(parts[i].size, expected[i].size);
    EXPECT_EQ(parts[i].type, expected[i].type);
  }
  std::vector<float> x(24, 1 + 0x1p-12F);
  Mixer mixer(layout, x, std::vector<double>{});
  ASSERT_TRUE(mixer.fold(x).finite);
  EXPECT_EQ(x[4], 1 + 0x1p-12F);
  EXPECT_EQ(x[5], 1);
  EXPECT_EQ(x[21], 1 + 0x1p-12F);
}

}  // namespace
}  // namespace stencil
