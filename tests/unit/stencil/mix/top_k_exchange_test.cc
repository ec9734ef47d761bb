// Codec topk: the exchange of parts between two ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/top_k.h"
#include "stencil/mix/mixer.h"
#include "tests/unit/stencil/mix/top_k_parts.h"

namespace stencil {
namespace {

using namespace test;

constexpr CodecNumber kTopK = 4;
constexpr float kRounding = 0x1p-12F;  // of half of what two ends are apart, in a reply

/// Two ends of an edge, each with a mixer of its own.
class Parts : public ::testing::Test {
 protected:
  static constexpr std::size_t kFloats = 3000;  // a short last bucket

  Parts() {
    for (std::uint64_t i = 0; i < 2; ++i) {
      x_[i] = noise(10 + i, kFloats);
      mixers_.push_back(std::make_unique<Mixer>(layout_, x_[i], std::vector<double>{}));
      codecs_.push_back(std::make_unique<TopKEdgeCodec>(top_k_, kTopK, layout_, x_[i]));
    }
  }
  std::vector<float> z(int i) {
    std::vector<float> all(kFloats);
    mixers_[i]->read_z(all);
    return all;
  }
  std::vector<double> sums() {
    const auto a = z(0), b = z(1);
    std::vector<double> sum(kFloats);
    for (std::size_t i = 0; i < kFloats; ++i) sum[i] = static_cast<double>(a[i]) + b[i];
    return sum;
  }
  void expect_sums(const std::vector<double>& before) {
    const auto after = sums();
    for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i], 2e-6) << i;
  }
  double apart2() {
    const auto a = z(0), b = z(1);
    double sum = 0;
    for (std::size_t i = 0; i < kFloats; ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
    return sum;
  }
  std::size_t size(std::uint32_t bucket) { return layout_.bucket(bucket).size; }
  Bytes offer(int i, std::uint32_t bucket) {
    Bytes bytes(top_k_.offer_size(size(bucket)));
    EXPECT_TRUE(mixers_[i]->offer(bucket, *codecs_[i], bytes).applied);
    return bytes;
  }
  Indices shown_by(const Bytes& offer, std::uint32_t bucket) {
    return indices(Part::read(offer, size(bucket)).value());
  }
  /// `i` asks, the other answers.
  Indices exchange(int i, std::uint32_t bucket, int divisor = 2) {
    const Bytes s = offer(i, bucket);
    Bytes d(top_k_.reply_size(size(bucket)));
    EXPECT_TRUE(mixers_[1 - i]->answer(bucket, *codecs_[1 - i], s, divisor, d).applied);
    EXPECT_TRUE(mixers_[i]->complete(bucket, *codecs_[i], s, d, divisor).applied);
    mixers_[i]->close_request(bucket);
    return shown_by(s, bucket);
  }

  Layout layout_ = Layout::flat(kFloats, 1200);
  TopK top_k_{50'000};
  std::vector<std::unique_ptr<Mixer>> mixers_;
  std::vector<std::unique_ptr<TopKEdgeCodec>> codecs_;
  std::vector<float> x_[2];
};

TEST_F(Parts, WhatIsShownIsAveragedAndTheRestLeftAlone) {
  const auto before = sums();
  const auto a = z(0), b = z(1);
  const Indices part = exchange(0, 1);
  EXPECT_EQ(part.size(), 60U);
  expect_sums(before);
  const auto now = z(0), theirs = z(1);
  for (std::size_t i = 0; i < kFloats; ++i) {
    const bool in = i >= 1200 && i < 2400 && std::ranges::count(part, i - 1200) > 0;
    const float apart = std::abs(a[i] - b[i]);
    ASSERT_NEAR(now[i], in ? (a[i] + b[i]) / 2 : a[i], in ? kRounding * apart + 1e-6 : 0) << i;
    ASSERT_NEAR(now[i] - theirs[i], in ? 0 : a[i] - b[i], in ? 2 * kRounding * apart + 1e-6 : 0);
  }
}

/// A reply is rounded by no more than its own size.
TEST_F(Parts, TwoEndsAreNeverFurtherApartThanTheyWere) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Random random(seed());
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t bucket = static_cast<std::uint32_t>(round % 3);
    for (int i = 0; i < 2; ++i) {
      for (float& v : x_[i]) {
        v += static_cast<float>(random.normal() * std::pow(10.0, -12 + 18 * random.uniform()));
      }
      (void)mixers_[i]->fold(x_[i]);
    }
    const auto a = z(0), b = z(1);
    (void)exchange(round % 2, bucket, 2 + round % 2);
    const auto now = z(0), theirs = z(1);
    for (std::size_t i = 0; i < kFloats; ++i) {
      // What fp32 itself rounds off is a part of the values, not of the difference.
      const double least = 2e-7 * (std::abs(double{a[i]}) + std::abs(double{b[i]}));
      ASSERT_LE(std::abs(double{now[i]} - theirs[i]), std::abs(double{a[i]} - b[i]) + least) << i;
    }
  }
}

TEST_F(Parts, BothEndsApplyTheSameDeltaWithAStepBetween) {
  const Bytes s = offer(0, 0);
  Bytes d(top_k_.reply_size(size(0)));
  const auto before = sums();
  ASSERT_TRUE(mixers_[1]->answer(0, *codecs_[1], s, 3, d).applied);
  for (float& v : x_[0]) v += 1;
  for (float& v : x_[1]) v -= 3;
  (void)mixers_[0]->fold(x_[0]);
  (void)mixers_[1]->fold(x_[1]);
  ASSERT_TRUE(mixers_[0]->complete(0, *codecs_[0], s, d, 3).applied);
  const auto after = sums();
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i] - 2, 5e-6);
}

TEST_F(Parts, OnesOwnAveragingIsNoNewsToTheOtherEndAndOnesStepsAre) {
  const Indices first = exchange(0, 0);
  const Indices second = exchange(0, 0);
  for (const std::uint32_t i : second) EXPECT_EQ(std::ranges::count(first, i), 0) << i;
  EXPECT_EQ(second.front(), first.back() + 1) << "nobody moved: by turns, from where they stopped";
  for (const std::uint32_t i : {100U, 200U, 700U}) x_[0][i] += 3;
  (void)mixers_[0]->fold(x_[0]);
  const Indices third = exchange(0, 0);
  for (const std::uint32_t i : {100U, 200U, 700U}) EXPECT_EQ(std::ranges::count(third, i), 1) << i;
  const Indices fourth = exchange(1, 0);
  EXPECT_GT(fourth.front(), second.back()) << "what it took over while answering is no news either";
}

TEST_F(Parts, AnOfferThatCameToNothingIsMadeAgain) {
  for (const std::uint32_t i : {100U, 200U, 700U}) x_[0][i] += 3;
  (void)mixers_[0]->fold(x_[0]);
  EXPECT_EQ(offer(0, 0), offer(0, 0));
}

TEST_F(Parts, WhereOffersCrossTheirCommonPartIsAveraged) {
  for (const std::uint32_t i : {100U, 200U}) x_[0][i] += 3;
  for (const std::uint32_t i : {200U, 700U}) x_[1][i] += 3;
  for (int i = 0; i < 2; ++i) (void)mixers_[i]->fold(x_[i]);
  const auto before = sums();
  const auto a = z(0), b = z(1);
  const Bytes s0 = offer(0, 0), s1 = offer(1, 0);
  ASSERT_TRUE(mixers_[0]->merge(0, *codecs_[0], {s0}, {s1}).applied);
  ASSERT_TRUE(mixers_[1]->merge(0, *codecs_[1], {s1}, {s0}).applied);
  expect_sums(before);
  const auto now = z(0);
  const Indices of_0 = shown_by(s0, 0), of_1 = shown_by(s1, 0);
  for (std::uint32_t i = 0; i < 1200; ++i) {
    const bool common = std::ranges::count(of_0, i) > 0 && std::ranges::count(of_1, i) > 0;
    ASSERT_NEAR(now[i], common ? (a[i] + b[i]) / 2 : a[i], 1e-6) << i;
  }
  EXPECT_NEAR(now[200], (a[200] + b[200]) / 2, 1e-6);
  EXPECT_EQ(now[100], a[100]);
  EXPECT_EQ(std::ranges::count(shown_by(offer(0, 0), 0), 100U), 1) << "still news";
}

TEST_F(Parts, APartThatCrossesAWholeBucketIsAveraged) {
  const auto before = sums();
  const auto a = z(0), b = z(1);
  const Bytes s0 = offer(0, 0);
  Bytes s1(4 * size(0));
  ASSERT_TRUE(mixers_[1]->copy(0, s1).applied);
  ASSERT_TRUE(mixers_[0]->merge(0, *codecs_[0], {s0}, {s1, true}).applied);
  ASSERT_TRUE(mixers_[1]->merge(0, *codecs_[1], {s1, true}, {s0}).applied);
  expect_sums(before);
  for (const std::uint32_t i : shown_by(s0, 0)) EXPECT_NEAR(z(0)[i], (a[i] + b[i]) / 2, 1e-6);
}

/// Whatever their turns were before (a reply was lost), and without steps.
TEST_F(Parts, WorkersInStepWhoseOffersAlwaysCrossComeToAgree) {
  for (int i = 0; i < 7; ++i) (void)exchange(0, 0);
  Bytes lost(top_k_.reply_size(size(0)));
  ASSERT_TRUE(mixers_[1]->answer(0, *codecs_[1], offer(0, 0), 2, lost).applied);
  mixers_[0]->close_request(0);
  const double start = apart2();
  double last = start;
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      const Bytes s0 = offer(0, b), s1 = offer(1, b);
      ASSERT_TRUE(mixers_[0]->merge(b, *codecs_[0], {s0}, {s1}).applied);
      ASSERT_TRUE(mixers_[1]->merge(b, *codecs_[1], {s1}, {s0}).applied);
    }
    ASSERT_LE(apart2(), last + 1e-9 * start);
    last = apart2();
  }
  EXPECT_LT(last, 1e-9 * start);
}

TEST_F(Parts, WhatWasAdoptedIsNoNews) {
  Bytes s(4 * size(0));
  ASSERT_TRUE(mixers_[1]->copy(0, s).applied);
  ASSERT_TRUE(mixers_[0]->adopt(0, s).applied);
  mixers_[0]->adopted(0, *codecs_[0]);
  EXPECT_EQ(shown_by(offer(0, 0), 0).back(), 59U) << "by turns alone";
}

TEST_F(Parts, WhatAPeerSendsAmissChangesNothing) {
  const auto a = z(0), b = z(1);
  const Bytes good = offer(0, 0);
  Bytes d(top_k_.reply_size(size(0)));
  const auto expect_why = [](const MixReport& report, MixReport::Why why) {
    EXPECT_FALSE(report.applied);
    EXPECT_EQ(report.why, why);
  };
  Bytes bad = good;
  bad[TopK::kHead + Places{size(0), top_k_.count(size(0))}.low_bytes()] ^= std::byte{0xff};
  expect_why(mixers_[1]->answer(0, *codecs_[1], bad, 2, d), MixReport::Why::kMalformed);
  expect_why(mixers_[1]->merge(0, *codecs_[1], {offer(1, 0)}, {bad}), MixReport::Why::kMalformed);
  const float huge = std::numeric_limits<float>::max();
  constexpr std::uint16_t kHalfNaN = 0x7e00;
  std::memcpy(d.data() + 8, &kHalfNaN, 2);
  expect_why(mixers_[0]->complete(0, *codecs_[0], good, d, 2), MixReport::Why::kNotFinite);
  expect_why(mixers_[0]->complete(0, *codecs_[0], {}, d, 2), MixReport::Why::kMalformed);
  EXPECT_EQ(z(0), a);
  EXPECT_EQ(z(1), b);
  // Numbers whose difference is not finite.
  std::vector<float> low(4, -huge);
  Mixer mixer(Layout::flat(4, 4), low, {});
  TopKEdgeCodec codec(top_k_, kTopK, Layout::flat(4, 4), low);
  Bytes reply(4);
  expect_why(mixer.answer(0, codec, written(4, 0, {0, 1}, huge), 2, reply),
             MixReport::Why::kNotFinite);
}

}  // namespace
}  // namespace stencil
