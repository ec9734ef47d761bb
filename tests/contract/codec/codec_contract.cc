#include "tests/contract/codec/codec_contract.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "stencil/core/random.h"

namespace stencil {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Around the widths of vector registers, and one bucket.
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 1000, 65536};

std::vector<float> random_values(std::size_t count) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double scale = std::pow(10.0, -8.0 + 12.0 * random.uniform());
    value = static_cast<float>(random.normal() * scale);
  }
  return values;
}

/// What the error of values[i] is relative to: the largest magnitude of those coded together.
double reach(std::span<const float> values, std::size_t i) {
  const std::size_t block = CodecContract::GetParam().block;
  const std::size_t begin = i - i % block;
  double largest = 0;
  for (std::size_t k = begin; k < std::min(values.size(), begin + block); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(values[k])));
  }
  return largest;
}

std::vector<std::byte> encoded(const Codec& codec, std::span<const float> values) {
  std::vector<std::byte> bytes(codec.encoded_size(values.size()));
  EXPECT_TRUE(codec.encode(values, bytes));
  return bytes;
}

TEST_P(CodecContract, GivesBackEachValueWithinItsError) {
  for (const auto count : kCounts) {
    const auto values = random_values(count);
    std::vector<float> back(count, kNaN);
    ASSERT_TRUE(codec_->decode(encoded(*codec_, values), back));
    for (std::size_t i = 0; i < count; ++i) {
      if (std::abs(values[i]) > GetParam().largest) continue;
      ASSERT_NEAR(back[i], values[i],
                  GetParam().absolute_error + GetParam().relative_error * reach(values, i))
          << "seed " << ::testing::UnitTest::GetInstance()->random_seed();
    }
  }
}

TEST_P(CodecContract, ChangesNothingTheSecondTime) {
  const auto first = encoded(*codec_, random_values(1000));
  std::vector<float> back(1000);
  ASSERT_TRUE(codec_->decode(first, back));
  EXPECT_EQ(encoded(*codec_, back), first);
}

TEST_P(CodecContract, IsOddSoThatBothEndsOfADeltaCancel) {
  auto values = random_values(1000);
  std::vector<float> plus(1000);
  std::vector<float> minus(1000);
  ASSERT_TRUE(codec_->decode(encoded(*codec_, values), plus));
  for (float& value : values) value = -value;
  ASSERT_TRUE(codec_->decode(encoded(*codec_, values), minus));
  for (std::size_t i = 0; i < plus.size(); ++i) ASSERT_EQ(plus[i], -minus[i]);
}

TEST_P(CodecContract, SizeGrowsWithTheFloatsAndIsKeptTo) {
  EXPECT_EQ(codec_->encoded_size(0), 0u);
  for (const auto count : kCounts) {
    const auto values = random_values(count);
    const auto size = codec_->encoded_size(count);
    std::vector<std::byte> bytes(size + 64, std::byte{0x5a});
    ASSERT_TRUE(codec_->encode(values, std::span(bytes).first(size)));
    for (std::size_t i = size; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0x5a});

    std::vector<float> back(count + 16, 77.0F);
    ASSERT_TRUE(codec_->decode(std::span(bytes).first(size), std::span(back).first(count)));
    for (std::size_t i = count; i < back.size(); ++i) ASSERT_EQ(back[i], 77.0F);
  }
}

TEST_P(CodecContract, CodesEachBlockByItself) {
  const auto values = random_values(2 * kCodecBlock + 100);
  const auto all = encoded(*codec_, values);
  std::vector<std::byte> parts;
  for (std::size_t begin = 0; begin < values.size(); begin += kCodecBlock) {
    EXPECT_EQ(codec_->encoded_size(begin), parts.size());
    const auto count = std::min(kCodecBlock, values.size() - begin);
    const auto part = encoded(*codec_, std::span(values).subspan(begin, count));
    parts.insert(parts.end(), part.begin(), part.end());
  }
  EXPECT_EQ(parts, all);
}

TEST_P(CodecContract, KeepsDenormalsFiniteAndWithinItsError) {
  std::vector<float> values;
  for (std::uint32_t bits = 1; bits < 0x01000000; bits = 3 * bits + 1) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(-std::bit_cast<float>(bits));
  }
  std::vector<float> back(values.size(), kNaN);
  ASSERT_TRUE(codec_->decode(encoded(*codec_, values), back));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(back[i], values[i],
                GetParam().absolute_error + GetParam().relative_error * reach(values, i));
  }
}

TEST_P(CodecContract, RefusesSpansThatDoNotFitTogether) {
  const auto values = random_values(10);
  const auto size = codec_->encoded_size(10);
  std::vector<std::byte> bytes(size + 1);
  std::vector<float> back(10);
  EXPECT_FALSE(codec_->encode(values, bytes));
  EXPECT_FALSE(codec_->encode(values, std::span(bytes).first(size - 1)));
  EXPECT_FALSE(codec_->decode(bytes, back));
  EXPECT_FALSE(codec_->decode(std::span(bytes).first(size - 1), back));
}

TEST_P(CodecContract, RefusesToEncodeANonFiniteValueAnywhere) {
  for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    for (const std::size_t count : {1u, 8u, 21u}) {
      for (std::size_t place = 0; place < count; ++place) {
        std::vector<float> values(count, 1.0F);
        values[place] = bad;
        std::vector<std::byte> bytes(codec_->encoded_size(count));
        EXPECT_FALSE(codec_->encode(values, bytes)) << bad << " at " << place << " of " << count;
      }
    }
  }
}

TEST_P(CodecContract, NeverMakesAnInfinityOfAFiniteValue) {
  const float huge = std::numeric_limits<float>::max();
  for (const float value : {huge, 1e30F, 70000.0F, 65536.0F, 65520.0F, 65519.0F, 65504.0F}) {
    const std::vector<float> values = {value,  -value, value,  -value, value,
                                       -value, value,  -value, value,  -value};
    std::vector<float> back(values.size());
    ASSERT_TRUE(codec_->decode(encoded(*codec_, values), back)) << value;
    const float expected = std::min(value, GetParam().largest);
    for (std::size_t i = 0; i < back.size(); ++i) {
      const float wanted = values[i] > 0 ? expected : -expected;
      EXPECT_NEAR(back[i], wanted, GetParam().relative_error * expected);
    }
  }
}

TEST_P(CodecContract, EitherRefusesOrGivesFiniteValuesForAnyBytes) {
  Random random(static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t count = random.below(40);
    std::vector<std::byte> bytes(codec_->encoded_size(count));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    std::vector<float> back(count);
    if (!codec_->decode(bytes, back)) {
      ++refused;
      continue;
    }
    for (const float value : back) ASSERT_TRUE(std::isfinite(value));
  }
  EXPECT_GT(refused, 0);
}

TEST_P(CodecContract, WorksAtAnyAddress) {
  const auto values = random_values(100);
  const auto expected = encoded(*codec_, values);
  std::vector<std::byte> room(expected.size() + 8);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const auto bytes = std::span(room).subspan(shift, expected.size());
    ASSERT_TRUE(codec_->encode(values, bytes));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin()));
    std::vector<float> back(100);
    std::vector<float> wanted(100);
    ASSERT_TRUE(codec_->decode(bytes, back));
    ASSERT_TRUE(codec_->decode(expected, wanted));
    EXPECT_EQ(back, wanted);
  }
}

TEST_P(CodecContract, KeepsZeroExactly) {
  const std::vector<float> zeros = {0.0F, -0.0F, 0.0F};
  std::vector<float> back(3, 1.0F);
  ASSERT_TRUE(codec_->decode(encoded(*codec_, zeros), back));
  for (const float value : back) EXPECT_EQ(value, 0.0F);
}

}  // namespace
}  // namespace stencil
