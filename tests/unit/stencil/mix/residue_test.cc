// Codec int4: offers of only the last bits, and exchanges with them.
#include "stencil/codec/residue.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "stencil/core/random.h"
#include "stencil/mix/blocks.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/residues.h"
#include "stencil/mix/mixer.h"
#include "tests/support/instruction_sets.h"

namespace stencil {
namespace {

constexpr CodecNumber kInt4 = 5;

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

std::vector<float> noise(Random& random, std::size_t n, double scale) {
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(scale * random.normal());
  return values;
}

Bytes residues(std::span<const float> values, float apart) {
  Bytes bytes(residue::size(values.size()));
  const std::vector<float> all(values.size() / residue::kBlock + 1, apart);
  EXPECT_TRUE(residue::write(values, all, bytes));
  return bytes;
}

TEST(Residue, IsReadToAQuarterOfWhatBothEndsWereApartWhereverThatHolds) {
  SCOPED_TRACE(seed());
  Random random(seed());
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 1000}) {
    for (const double scale : {1e-30, 1e-3, 1.0, 1e20}) {
      std::vector<float> theirs(n);
      for (float& v : theirs) v = static_cast<float>(scale * (1 + random.uniform()));
      const auto apart = static_cast<float>(scale * std::pow(10.0, -4 * random.uniform()));
      auto read = theirs;
      // 7.5 steps of a quarter are right wherever the power of two falls.
      for (float& v : read) v += static_cast<float>((3.7 * random.uniform() - 1.85) * apart);
      ASSERT_TRUE(residue::read(residues(theirs, apart), read));
      for (std::size_t i = 0; i < n; ++i) {
        const double rounded = 0.25 * apart + 1e-6 * std::abs(theirs[i]);
        ASSERT_NEAR(read[i], theirs[i], rounded) << n << " " << scale << " " << i;
      }
    }
  }
}

TEST(Residue, IsNotReadWhereBothEndsAreFurtherApart) {
  SCOPED_TRACE(seed());
  Random random(seed());
  const auto theirs = noise(random, 1000, 1), ours = noise(random, 1000, 1);
  auto read = ours;
  ASSERT_TRUE(residue::read(residues(theirs, 1e-3F), read));
  for (const float value : read) ASSERT_TRUE(std::isnan(value));
  // One value of a block is enough.
  auto nearly = theirs;
  nearly[70] += 0.1F;
  read = nearly;
  ASSERT_TRUE(residue::read(residues(theirs, 1e-3F), read));
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (i / residue::kBlock == 1) {
      ASSERT_TRUE(std::isnan(read[i]));
    } else {
      ASSERT_NEAR(read[i], theirs[i], 0.25e-3);
    }
  }
}

TEST(Residue, WrongBlocksPassOnceInAllValuesOfTheChecksum) {
  SCOPED_TRACE(seed());
  Random random(seed());
  constexpr std::size_t kBlocks = 1U << 16U;
  std::size_t passed = 0;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    // A few values are one wrap of 16 steps off, or all are by many.
    const std::size_t n = block % 2 == 0 ? residue::kBlock : residue::kBlock / 4;
    const double spread = block % 4 < 2 ? 0.006 : 1;
    std::vector<float> theirs(n), ours(n);
    for (float& v : theirs) v = static_cast<float>(random.uniform());
    for (std::size_t i = 0; i < n; ++i) {
      ours[i] = theirs[i] + static_cast<float>(spread * (2 * random.uniform() - 1));
    }
    ASSERT_TRUE(residue::read(residues(theirs, 1e-3F), ours));
    float furthest = 0;
    for (std::size_t i = 0; i < n; ++i)
      furthest = std::max(furthest, std::abs(ours[i] - theirs[i]));
    passed += furthest > 1e-3F;  // NaN is further than nothing
  }
  // One is expected; more than eight come once in a million runs.
  EXPECT_LE(passed, 8U);
}

TEST(Residue, StepsAreWithinWhatFloatsHold) {
  const std::vector<float> theirs(64, 1.7F);
  auto read = theirs;
  read[5] += 3e-6F;
  ASSERT_TRUE(residue::read(residues(theirs, 0), read));
  EXPECT_NEAR(read[5], 1.7, 5e-7);
  read[5] = -1.7F;
  ASSERT_TRUE(residue::read(residues(theirs, 1e10F), read));
  EXPECT_EQ(read[5], 0) << "right to half a step";
}

TEST(Residue, CrossedOffersAreTheExactNegativeAtTheOtherEnd) {
  SCOPED_TRACE(seed());
  Random random(seed());
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 1 + random.below(200);
    const auto a = noise(random, n, 1);
    auto b = a;
    for (float& v : b) v += static_cast<float>(1.2e-3 * (random.uniform() - 0.5));
    const float apart_a = 1e-3F;
    const auto apart_b = static_cast<float>(1e-3 * std::pow(2, round % 5 - 2));
    const Bytes of_a = residues(a, apart_a), of_b = residues(b, apart_b);
    std::vector<float> here(n), there(n);
    ASSERT_TRUE(residue::subtract(of_b, of_a, here));
    ASSERT_TRUE(residue::subtract(of_a, of_b, there));
    const bool comparable = std::abs(round % 5 - 2) <= 1;
    for (std::size_t i = 0; i < n; ++i) {
      if (!comparable) continue;
      ASSERT_EQ(here[i], -there[i]);
      ASSERT_NEAR(here[i], b[i] - a[i], 0.25 * (apart_a + apart_b) + 1e-6) << "half of both steps";
    }
  }
}

TEST(Residue, WhoseStepsAreFarApartSayNothingOfEachOther) {
  std::vector<float> apart(3, 1.0F);
  ASSERT_TRUE(residue::subtract(residues(std::vector<float>{1, 2, 3}, 1e-3F),
                                residues(std::vector<float>{1, 2, 3}, 1.0F), apart));
  for (const float value : apart) EXPECT_TRUE(std::isnan(value));
  ASSERT_TRUE(residue::subtract(residues(std::vector<float>{1, 2, 3}, 0.01F),
                                residues(std::vector<float>{1, 2.5, 3}, 0.01F), apart));
  for (const float value : apart)
    EXPECT_TRUE(std::isnan(value)) << "further apart than residues go";
}

TEST(Residue, WhatIsNeverSentIsRefused) {
  const std::vector<float> values(70, 1.0F);
  for (const std::size_t block : {std::size_t{0}, residue::size(residue::kBlock)}) {
    for (const unsigned char step : {0, 241, 255}) {
      Bytes bytes = residues(values, 0.1F);
      const Bytes good = bytes;
      bytes[block] = std::byte{step};
      auto read = values;
      EXPECT_FALSE(residue::read(bytes, read)) << +step;
      EXPECT_FALSE(residue::subtract(bytes, good, read)) << +step;
      EXPECT_FALSE(residue::subtract(good, bytes, read)) << +step;
    }
  }
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (const std::size_t place : {0U, 69U}) {
      auto broken = values;
      broken[place] = bad;
      Bytes out(residue::size(broken.size()));
      EXPECT_FALSE(residue::write(broken, std::vector<float>(2), out));
    }
  }
  std::vector<float> far(1, 3e38F);
  EXPECT_TRUE(residue::read(residues(far, 1.0F), far));
  EXPECT_NEAR(far[0] / 3e38F, 1, 1e-6);
}

TEST(Residue, IsTheSameOnEveryInstructionSet) {
  SCOPED_TRACE(seed());
  Random random(seed());
  for (int round = 0; round < 100; ++round) {
    const std::size_t n = random.below(300);
    const auto a = noise(random, n, 1), b = noise(random, n, 1);
    Bytes first;
    std::vector<float> first_read, first_apart;
    test::for_each_instruction_set([&](const char* name) {
      const Bytes of_a = residues(a, 0.01F), of_b = residues(b, 0.02F);
      auto read = b;
      std::vector<float> apart(n);
      ASSERT_TRUE(residue::read(of_a, read));
      ASSERT_TRUE(residue::subtract(of_a, of_b, apart));
      if (first.empty()) first = of_a, first_read = read, first_apart = apart;
      ASSERT_EQ(of_a, first) << name;
      const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same(read[i], first_read[i])) << name;
        ASSERT_TRUE(same(apart[i], first_apart[i])) << name;
      }
    });
  }
}

/// Two workers that exchange by residues, each with its state about the other.
class Residues : public ::testing::Test {
 protected:
  static constexpr std::size_t kFloats = 3000;

  Residues() { start_from(1, 1); }
  /// Values of these scales at the two ends.
  void start_from(double first, double second) {
    Random random(seed());
    for (int i = 0; i < 2; ++i) {
      x_[i] = noise(random, kFloats, i == 0 ? first : second);
      mixers_[i] = std::make_unique<Mixer>(layout_, x_[i], std::vector<double>{});
      codecs_[i] = std::make_unique<ResidueEdgeCodec>(kInt4, layout_, x_[i]);
    }
  }

  std::vector<float> z(int i) {
    std::vector<float> values(kFloats);
    mixers_[i]->read_z(values);
    return values;
  }
  std::vector<double> sums() {
    const auto a = z(0), b = z(1);
    std::vector<double> sum(kFloats);
    for (std::size_t i = 0; i < kFloats; ++i) sum[i] = double{a[i]} + b[i];
    return sum;
  }
  void expect_sums(const std::vector<double>& before) {
    const auto after = sums();
    for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i], 2e-6) << i;
  }
  double apart2() {
    const auto a = z(0), b = z(1);
    double sum = 0;
    for (std::size_t i = 0; i < kFloats; ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    return sum;
  }
  [[nodiscard]] std::size_t bytes(std::uint32_t bucket) const {
    return residue::size(layout_.bucket(bucket).size);
  }
  [[nodiscard]] std::size_t reply_bytes(std::uint32_t bucket) const {
    return codecs_[0]->reply_form(layout_.bucket(bucket).size).bytes;
  }
  Bytes offer(int from, std::uint32_t bucket) {
    Bytes s(bytes(bucket));
    EXPECT_EQ(codecs_[from]->offer_form(layout_.bucket(bucket).size).bytes, s.size());
    EXPECT_TRUE(mixers_[from]->offer(bucket, *codecs_[from], s).applied);
    return s;
  }
  void exchange(int from, std::uint32_t bucket) {
    const Bytes s = offer(from, bucket);
    Bytes d(reply_bytes(bucket));
    const int to = 1 - from;
    ASSERT_TRUE(mixers_[to]->answer(bucket, *codecs_[to], s, 2, d).applied);
    ASSERT_TRUE(mixers_[from]->complete(bucket, *codecs_[from], s, d, 2).applied);
    mixers_[from]->close_request(bucket);
  }
  void cross(std::uint32_t bucket) {
    const Bytes a = offer(0, bucket), b = offer(1, bucket);
    ASSERT_TRUE(mixers_[0]->merge(bucket, *codecs_[0], {a}, {b}).applied);
    ASSERT_TRUE(mixers_[1]->merge(bucket, *codecs_[1], {b}, {a}).applied);
  }

  Layout layout_ = Layout::flat(kFloats, 1200);
  std::array<std::unique_ptr<Mixer>, 2> mixers_;
  std::array<std::unique_ptr<ResidueEdgeCodec>, 2> codecs_;
  std::vector<float> x_[2];
};

TEST_F(Residues, FindTheirStepsByThemselvesAndComeToAgreeWithTheMeanKept) {
  SCOPED_TRACE(seed());
  const auto before = sums();
  const double start = apart2();
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t b = 0; b < 3; ++b) exchange(round % 2, b);
  }
  expect_sums(before);
  EXPECT_LT(apart2(), 1e-6 * start)
      << "from steps of a thousandth to those of the distance and back";
}

TEST_F(Residues, ThatCrossKeepTheMeanAndComeToAgree) {
  SCOPED_TRACE(seed());
  for (std::uint32_t b = 0; b < 3; ++b) exchange(0, b);
  const auto before = sums();
  const double start = apart2();
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t b = 0; b < 3; ++b) cross(b);
  }
  expect_sums(before);
  EXPECT_LT(apart2(), 1e-6 * start);
}

TEST_F(Residues, ComeToAgreeFromValuesOfAnySizesHoweverTheyMeet) {
  SCOPED_TRACE(seed());
  for (const double scale : {0.1, 1e-3, 0.0}) {
    for (const int asker : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(scale) + ", asker " + std::to_string(asker) + " (2: crossing)");
      start_from(1, scale);
      const double start = apart2();
      for (int round = 0; round < 200; ++round) {
        for (std::uint32_t b = 0; b < 3; ++b) asker < 2 ? exchange(asker, b) : cross(b);
      }
      EXPECT_LT(apart2(), 1e-6 * start);
    }
  }
}

TEST_F(Residues, OfEqualValuesMoveNothingAndFollowTheFirstStepAtOnce) {
  SCOPED_TRACE(seed());
  for (const bool crossing : {false, true}) {
    for (const float value : {0.0F, 1.0F, 1.5F, 0.7F}) {
      SCOPED_TRACE(std::to_string(value) + (crossing ? ", crossing" : ""));
      start_from(0, 0);
      const auto step_by = [&](double noisy, float constant) {
        Random random(seed());
        for (int i = 0; i < 2; ++i) {
          x_[i] = noise(random, kFloats, noisy);
          for (float& v : x_[i]) v += constant;
          mixers_[i]->fold(x_[i]);
        }
      };
      const auto rounds = [&](int count) {
        for (int round = 0; round < count; ++round) {
          for (std::uint32_t b = 0; b < 3; ++b) crossing ? cross(b) : exchange(round % 2, b);
        }
      };
      step_by(0, value);
      for (int i = 0; i < 500; ++i) {
        rounds(1);
        ASSERT_LE(apart2(), 1e-9 * kFloats) << i;
      }
      step_by(1e-3, value);
      const double start = apart2();
      rounds(60);
      EXPECT_LT(apart2(), 1e-3 * start);
    }
  }
}

TEST_F(Residues, ThatCrossExactValuesKeepTheMean) {
  SCOPED_TRACE(seed());
  const auto before = sums();
  DenseEdgeCodec fp32;
  for (std::uint32_t b = 0; b < 3; ++b) {
    const Bytes s0 = offer(0, b);
    Bytes s1(4 * layout_.bucket(b).size);
    ASSERT_TRUE(mixers_[1]->offer(b, fp32, s1).applied);
    ASSERT_TRUE(mixers_[0]->merge(b, *codecs_[0], {s0}, {s1, true}).applied);
    ASSERT_TRUE(mixers_[1]->merge(b, *codecs_[1], {s1, true}, {s0}).applied);
  }
  expect_sums(before);
}

/// Its steps, too, follow from what was applied alone.
TEST(ResidueSteps, OfABucketThatIsRefusedStayAsTheyWere) {
  const Layout layout = Layout::flat(2 * kBlockFloats, 2 * kBlockFloats);
  std::vector<float> y(2 * kBlockFloats, 1.0F), p(y.size(), 0.0F);
  ResidueEdgeCodec ours(kInt4, layout, y);
  const std::vector<float> before(ours.distances(0).begin(), ours.distances(0).end());
  std::vector<float> theirs(y.size(), 1.0003F);
  const Bytes offer = residues(theirs, 0.001F);
  y.back() = std::numeric_limits<float>::quiet_NaN();  // the last block is no good
  Bytes reply(ours.reply_form(y.size()).bytes);
  EXPECT_FALSE(ours.answer({0, y, p}, offer, 2, reply).finite);
  EXPECT_EQ(std::vector<float>(ours.distances(0).begin(), ours.distances(0).end()), before);
  y.back() = 1;
  EXPECT_TRUE(ours.answer({0, y, p}, offer, 2, reply).finite);
  EXPECT_NE(std::vector<float>(ours.distances(0).begin(), ours.distances(0).end()), before);
}

TEST_F(Residues, WhatAPeerSendsAmissChangesNothing) {
  const auto a = z(0), b = z(1);
  Bytes bad = offer(0, 0);
  bad[residue::size(5 * residue::kBlock)] = std::byte{255};
  Bytes d(reply_bytes(0));
  EXPECT_FALSE(mixers_[1]->answer(0, *codecs_[1], bad, 2, d).applied);
  EXPECT_FALSE(mixers_[1]->merge(0, *codecs_[1], {offer(1, 0)}, {bad}).applied);
  std::ranges::fill(d, std::byte{0x88});
  EXPECT_FALSE(mixers_[0]->complete(0, *codecs_[0], offer(0, 0), d, 2).applied)
      << "-8 is never sent";
  EXPECT_EQ(z(0), a);
  EXPECT_EQ(z(1), b);
}

}  // namespace
}  // namespace stencil
