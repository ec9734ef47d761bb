#include "stencil/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/codec/bf16_codec.h"
#include "stencil/codec/codecs.h"
#include "stencil/codec/fp16_codec.h"
#include "stencil/codec/int_codec.h"
#include "stencil/core/error.h"
#include "stencil/core/random.h"
#include "tests/support/codec_cases.h"
#include "tests/support/instruction_sets.h"

namespace stencil {
namespace {

using ::testing::HasSubstr;

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

TEST(Codec, EachIsReadByItsName) {
  EXPECT_EQ(parse_codec("fp32"), CodecKind::kFp32);
  for (const CodecSpec& codec : test::every_codec(10'000)) {
    EXPECT_TRUE(codec.valid()) << name(codec.kind);
    EXPECT_EQ(parse_codec(name(codec)), codec) << name(codec.kind);
  }
}

TEST(Codec, NamesTheValidOnesWhenItsNameIsUnknown) {
  try {
    (void)parse_codec("fp8");
    FAIL() << "took fp8";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'fp8'"));
    for (const std::string_view name : kCodecNames) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(name)));
    }
  }
}

TEST(Codec, TopKIsNamedWithItsFraction) {
  for (const auto& [text, share] : {std::pair<const char*, std::uint32_t>("topk:0.01", 10'000),
                                    {"topk:0.5", 500'000},
                                    {"topk:0.000001", 1},
                                    {"topk:0.123456", 123'456}}) {
    EXPECT_EQ(parse_codec(text), CodecSpec(CodecKind::kTopK, share));
    EXPECT_EQ(name(parse_codec(text)), text);
  }
  EXPECT_EQ(name(parse_codec("topk:.0100")), "topk:0.01");
  EXPECT_EQ(name(parse_codec("int8")), "int8");
  for (const char* const text :
       {"topk", "topk:", "topk:0", "topk:0.6", "topk:-0.1", "topk:nan", "topk:inf", "topk:0.01x",
        "topk:1e-2", "topk:0.0000001", "topk:1", "topk: 0.1", "topk:99999999999"}) {
    EXPECT_THROW((void)parse_codec(text), ConfigError) << text;
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
  const IntCodec codec(CodecKind::kInt8);
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
  const IntCodec codec(CodecKind::kInt8);
  std::vector<float> back(3);
  std::vector<std::byte> bytes(4, std::byte{1});
  EXPECT_TRUE(codec.decode(bytes, back));
  bytes[3] = std::byte{0x80};
  EXPECT_FALSE(codec.decode(bytes, back)) << "-128";
  bytes[3] = std::byte{1};
  bytes[0] = std::byte{255};
  EXPECT_FALSE(codec.decode(bytes, back)) << "the exponent of NaN and infinity";
}

TEST(Codecs, SendsDifferencesAsConfiguredAndValuesNoCoarserThanTwoBytes) {
  for (const CodecKind configured : kDenseCodecs) {
    const Codecs codecs(configured);
    EXPECT_EQ(codecs.differences().kind(), configured);
    const bool coarse = make_codec(configured)->encoded_size(kCodecBlock) < 2 * kCodecBlock;
    EXPECT_EQ(codecs.values().kind(), coarse ? CodecKind::kFp16 : configured) << name(configured);
  }
}

TEST(Codecs, Int4OffersResiduesAndIsPulledInFp16) {
  const Codecs codecs(CodecKind::kInt4);
  EXPECT_EQ(codecs.offered(), CodecKind::kInt4);
  EXPECT_EQ(codecs.offer_size(640), 350U) << "a checksum each block";
  EXPECT_EQ(codecs.reply_size(640), 330U);
  EXPECT_EQ(codecs.reader(MessageKind::kOffer, CodecKind::kInt4), nullptr) << "read near one's own";
  EXPECT_EQ(codecs.reader(MessageKind::kReply, CodecKind::kInt4), &codecs.differences());
  EXPECT_EQ(codecs.reader(MessageKind::kSnapshot, CodecKind::kFp16), &codecs.values());
  EXPECT_EQ(Codecs(CodecKind::kInt8).offered(), CodecKind::kFp16);
}

TEST(Codecs, TopKSendsPartsAndReadsTheRestInFp32Alone) {
  const Codecs codecs({CodecKind::kTopK, 10'000});
  ASSERT_NE(codecs.top_k(), nullptr);
  EXPECT_EQ(codecs.offer_size(1000), 8U + 8 + 4 + 10 * 4) << "six low bits, and 25 of the rest";
  EXPECT_EQ(codecs.reply_size(1000), 10U * 2);
  for (const auto kind : {MessageKind::kOffer, MessageKind::kReply, MessageKind::kSnapshot}) {
    EXPECT_EQ(codecs.reader(kind, CodecKind::kFp32), &codecs.exact());
    EXPECT_EQ(codecs.reader(kind, CodecKind::kTopK), nullptr);
    EXPECT_EQ(codecs.reader(kind, CodecKind::kFp16), nullptr);
  }
  const Codecs int8(CodecKind::kInt8);
  EXPECT_EQ(int8.top_k(), nullptr);
  EXPECT_EQ(int8.offer_size(1000), 2000U);
  EXPECT_EQ(int8.reply_size(1000), 1016U);
}

TEST(Codecs, ReadsOnlyWhatTheRunSends) {
  const Codecs codecs(CodecKind::kInt8);
  EXPECT_EQ(codecs.reader(MessageKind::kReply, CodecKind::kInt8), &codecs.differences());
  EXPECT_EQ(codecs.reader(MessageKind::kReply, CodecKind::kFp16), nullptr);
  EXPECT_EQ(codecs.reader(MessageKind::kOffer, CodecKind::kFp16), &codecs.values());
  EXPECT_EQ(codecs.reader(MessageKind::kOffer, CodecKind::kInt8), nullptr);
  EXPECT_EQ(codecs.reader(MessageKind::kSnapshot, CodecKind::kBf16), nullptr);
  for (const auto kind : {MessageKind::kOffer, MessageKind::kReply, MessageKind::kSnapshot}) {
    EXPECT_EQ(codecs.reader(kind, CodecKind::kFp32), &codecs.exact());
  }
}

}  // namespace
}  // namespace stencil
