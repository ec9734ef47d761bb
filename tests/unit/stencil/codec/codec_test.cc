#include "stencil/codec/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "stencil/codec/bf16_codec.h"
#include "stencil/codec/fp16_codec.h"
#include "stencil/codec/int_codec.h"
#include "stencil/core/half_floats.h"
#include "stencil/core/random.h"
#include "tests/support/instruction_sets.h"

namespace stencil {
namespace {

/// What a half means, from the definition of binary16.
double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_finite_half(std::uint32_t half) {
  return (half & 0x7c00) != 0x7c00;
}

TEST(Fp16, EveryHalfReadsAsItsDefinitionSays) {
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const float value = float_from_half(static_cast<std::uint16_t>(half));
    if (is_finite_half(half)) {
      ASSERT_EQ(value, half_value(static_cast<std::uint16_t>(half))) << half;
      ASSERT_EQ(std::signbit(value), half >= 0x8000) << half;
      ASSERT_EQ(half_from_float(value), half);
    } else {
      ASSERT_EQ(std::isnan(value), (half & 0x3ff) != 0) << half;
      ASSERT_FALSE(std::isfinite(value)) << half;
    }
  }
}

TEST(Fp16, EveryInstructionSetReadsEveryHalf) {
  std::vector<std::uint16_t> halves;
  std::vector<float> expected;
  for (std::uint32_t half = 0; half < 65536; ++half) {
    if (!is_finite_half(half)) continue;
    halves.push_back(static_cast<std::uint16_t>(half));
    expected.push_back(float_from_half(halves.back()));
  }
  test::for_each_instruction_set([&](const char* name) {
    std::vector<float> read(halves.size());
    ASSERT_TRUE(Fp16Codec().decode(std::as_bytes(std::span(halves)), read)) << name;
    EXPECT_EQ(std::memcmp(read.data(), expected.data(), read.size() * sizeof(float)), 0) << name;
  });
}

TEST(Fp16, RoundsToTheNearestHalfAndTiesToEven) {
  // Between each half and the next: the exact middle, and one float above and below it.
  for (std::uint32_t half = 0; half < 0x7bff; ++half) {
    const double low = half_value(static_cast<std::uint16_t>(half));
    const double high = half_value(static_cast<std::uint16_t>(half + 1));
    const auto middle = static_cast<float>((low + high) / 2.0);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2.0);
    ASSERT_EQ(half_from_float(middle), half % 2 == 0 ? half : half + 1) << half;
    ASSERT_EQ(half_from_float(std::nextafter(middle, 0.0F)), half) << half;
    ASSERT_EQ(half_from_float(std::nextafter(middle, 1e9F)), half + 1) << half;
    ASSERT_EQ(half_from_float(-middle), 0x8000 | half_from_float(middle));
  }
}

TEST(Fp16, SaturatesAtItsLargestValue) {
  for (const float value : {65504.0F, 65519.0F, 65520.0F, 1e6F, 3e38F}) {
    EXPECT_EQ(half_from_float(value), 0x7bff) << value;
    EXPECT_EQ(half_from_float(-value), 0xfbff) << value;
  }
}

TEST(Fp16, VanishesBelowHalfItsSmallestDenormal) {
  EXPECT_EQ(half_from_float(0x1p-24F), 1);
  EXPECT_EQ(half_from_float(0x1p-25F), 0);
  EXPECT_EQ(half_from_float(std::nextafter(0x1p-25F, 1.0F)), 1);
  EXPECT_EQ(half_from_float(-std::numeric_limits<float>::denorm_min()), 0x8000);
}

TEST(Fp16, EveryInstructionSetWritesTheSameBits) {
  // Every exponent and sign with the fractions around each rounding step, then random bits.
  std::vector<float> values;
  for (std::uint32_t top = 0; top < 1U << 19; ++top) {
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x1fffU}) {
      const auto value = std::bit_cast<float>((top << 13) | low);
      if (std::isfinite(value)) values.push_back(value);
    }
  }
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (std::isfinite(value)) values.push_back(value);
  }
  std::vector<std::uint16_t> expected;
  for (const float value : values) expected.push_back(half_from_float(value));
  test::for_each_instruction_set([&](const char* name) {
    std::vector<std::uint16_t> halves(values.size());
    EXPECT_TRUE(Fp16Codec().encode(values, std::as_writable_bytes(std::span(halves)))) << name;
    EXPECT_EQ(halves, expected) << name;
  });
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  // Between each value and the next: the exact middle, and one float above and below it.
  for (std::uint32_t high = 0; high < 0x7f7f; ++high) {
    const std::uint32_t middle = (high << 16) | 0x8000;
    ASSERT_EQ(bf16_from_bits(middle), high % 2 == 0 ? high : high + 1) << high;
    ASSERT_EQ(bf16_from_bits(middle - 1), high) << high;
    ASSERT_EQ(bf16_from_bits(middle + 1), high + 1) << high;
    ASSERT_EQ(bf16_from_bits(middle | kFloatSign), 0x8000 | bf16_from_bits(middle)) << high;
  }
  EXPECT_EQ(bf16_from_bits(0x7f7fffff), 0x7f7f) << "the largest float saturates";
}

TEST(Int8, RoundsWithoutABiasAndTheSameEachTime) {
  const IntCodec codec(8);
  Random random(7);
  double off = 0, off2 = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<float> values(IntCodec::kBlock), back(values.size());
    for (float& value : values) value = static_cast<float>(random.uniform());
    values[0] = 1;  // a step is 1/64
    std::vector<std::byte> bytes(codec.encoded_size(values.size())), again(bytes.size());
    ASSERT_TRUE(codec.encode(values, bytes));
    ASSERT_TRUE(codec.encode(values, again));
    ASSERT_EQ(bytes, again);
    ASSERT_TRUE(codec.decode(bytes, back));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double steps = 64 * (static_cast<double>(back[i]) - values[i]);
      ASSERT_LT(std::abs(steps), 1);
      off += steps;
      off2 += steps * steps;
    }
  }
  const double count = kRounds * static_cast<double>(IntCodec::kBlock);
  EXPECT_NEAR(off / count, 0, 5 * std::sqrt(1.0 / 6 / count)) << "five standard errors";
  EXPECT_NEAR(off2 / count, 1.0 / 6, 0.01) << "the variance of stochastic rounding";
}

TEST(Int8, RefusesWhatIsNeverSent) {
  const IntCodec codec(8);
  std::vector<float> back(3);
  std::vector<std::byte> bytes(4, std::byte{1});
  EXPECT_TRUE(codec.decode(bytes, back));
  bytes[3] = std::byte{0x80};
  EXPECT_FALSE(codec.decode(bytes, back)) << "-128";
  bytes[3] = std::byte{1};
  bytes[0] = std::byte{255};
  EXPECT_FALSE(codec.decode(bytes, back)) << "the exponent of NaN and infinity";
}

}  // namespace
}  // namespace stencil
