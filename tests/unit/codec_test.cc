#include "stencil/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "stencil/codec/fp16_codec.h"
#include "stencil/core/error.h"
#include "stencil/core/random.h"

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

std::vector<std::uint16_t> encode(Fp16Path path, const std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  EXPECT_TRUE(Fp16Codec(path).encode(values, std::as_writable_bytes(std::span(halves))));
  return halves;
}

TEST(Codec, NamesTheValidOnesWhenItsNameIsUnknown) {
  EXPECT_EQ(parse_codec("fp32"), CodecKind::kFp32);
  EXPECT_EQ(parse_codec("fp16"), CodecKind::kFp16);
  try {
    (void)parse_codec("bf16");
    FAIL() << "took bf16";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'bf16'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("fp32, fp16"));
  }
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

TEST(Fp16, EveryPathReadsEveryHalfAlike) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t half = 0; half < 65536; ++half) {
    if (is_finite_half(half)) halves.push_back(static_cast<std::uint16_t>(half));
  }
  std::vector<float> best(halves.size());
  std::vector<float> portable(halves.size());
  ASSERT_TRUE(Fp16Codec(Fp16Path::kBest).decode(std::as_bytes(std::span(halves)), best));
  ASSERT_TRUE(Fp16Codec(Fp16Path::kPortable).decode(std::as_bytes(std::span(halves)), portable));
  EXPECT_EQ(std::memcmp(best.data(), portable.data(), best.size() * sizeof(float)), 0);
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

TEST(Fp16, EveryPathWritesTheSameBits) {
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
  EXPECT_EQ(encode(Fp16Path::kBest, values), encode(Fp16Path::kPortable, values));
}

}  // namespace
}  // namespace stencil
