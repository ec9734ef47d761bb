#include "stencil/mix/codecs/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "stencil/core/error.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kFloats = 1000;

std::unique_ptr<EdgeCodec> edge_of(const CodecSpec& codec) {
  return make_edge_codec(codec, Layout::flat(kFloats), std::vector<float>(kFloats));
}
CodecNumber number_of(const char* name) {
  return parse_codec(name).number;
}

TEST(CodecKinds, EachIsReadByItsName) {
  EXPECT_EQ(parse_codec("fp32"), CodecSpec{});
  for (const CodecSpec& codec : test::every_codec(10'000)) {
    EXPECT_EQ(parse_codec(name(codec)), codec) << name(codec);
    EXPECT_THAT(codec_forms(), HasSubstr(name(codec).substr(0, 4)));
  }
}

TEST(CodecKinds, NumbersAreThoseOfTheWire) {
  const std::pair<const char*, int> numbers[] = {{"fp32", 0}, {"fp16", 1},     {"bf16", 2},
                                                 {"int8", 3}, {"topk:0.1", 4}, {"int4", 5}};
  for (const auto& [name, number] : numbers) EXPECT_EQ(number_of(name), number) << name;
}

TEST(CodecKinds, TheValidOnesAreNamedWhereANameIsUnknown) {
  try {
    (void)parse_codec("fp8");
    FAIL() << "took fp8";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'fp8'"));
    for (const CodecKind& kind : codec_kinds()) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(kind.name)));
    }
  }
  EXPECT_EQ(name(CodecSpec{77, 0}), "codec 77");
}

TEST(CodecKinds, TopKIsNamedWithItsFraction) {
  for (const auto& [text, share] : {std::pair<const char*, std::uint32_t>("topk:0.01", 10'000),
                                    {"topk:0.5", 500'000},
                                    {"topk:0.000001", 1},
                                    {"topk:0.123456", 123'456}}) {
    EXPECT_EQ(parse_codec(text).parameter, share);
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

TEST(CodecKinds, DifferencesGoAsConfiguredAndValuesNoCoarserThanTwoBytes) {
  for (const CodecKind& kind : codec_kinds()) {
    if (kind.edge != nullptr) continue;
    const CodecSpec spec{kind.number, 0};
    const auto edge = edge_of(spec);
    EXPECT_EQ(edge->reply_form(kCodecBlock).codec, kind.number);
    const bool coarse = make_codec(kind.number)->encoded_size(kCodecBlock) < 2 * kCodecBlock;
    const CodecNumber values = coarse ? number_of("fp16") : kind.number;
    EXPECT_EQ(edge->offer_form(kCodecBlock).codec, values) << kind.name;
    EXPECT_EQ(pulled_as(spec), values) << kind.name;
  }
}

TEST(CodecKinds, Int4OffersResiduesAndIsPulledInFp16) {
  const auto int4 = edge_of(parse_codec("int4"));
  EXPECT_EQ(int4->offer_form(640).codec, number_of("int4"));
  EXPECT_EQ(int4->offer_form(640).bytes, 350U) << "a checksum each block";
  EXPECT_EQ(int4->reply_form(640).codec, number_of("int4"));
  EXPECT_EQ(int4->reply_form(640).bytes, 330U);
  EXPECT_EQ(pulled_as(parse_codec("int4")), number_of("fp16"));
}

TEST(CodecKinds, TopKSendsPartsAndNotInLockStep) {
  const CodecSpec spec = parse_codec("topk:0.01");
  const auto top_k = edge_of(spec);
  EXPECT_EQ(top_k->offer_form(1000).bytes, 8U + 8 + 4 + 10 * 4) << "six low bits, 25 of the rest";
  EXPECT_EQ(top_k->reply_form(1000).bytes, 10U * 2);
  EXPECT_EQ(make_codec(spec.number), nullptr);
  EXPECT_THROW(check_codec(spec, Mode::parse("sync")), ConfigError);
  EXPECT_NO_THROW(check_codec(spec, Mode::parse("async")));
  const auto int8 = edge_of(parse_codec("int8"));
  EXPECT_EQ(int8->offer_form(1000).bytes, 2000U);
  EXPECT_EQ(int8->reply_form(1000).bytes, 1016U);
}

}  // namespace
}  // namespace stencil
