// What travels on an edge, and what both ends make of it, bit for bit: the same on every
// architecture, since the two ends of an edge may be of two.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/payload.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kFloats = 2500;  // blocks of each codec, and a rest

/// Numbers of many magnitudes, from integers alone: no two libraries agree on the last bit of more.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  float next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    const auto whole = static_cast<std::int32_t>(state_ >> 40) - (1 << 23);
    return std::ldexp(static_cast<float>(whole), -23 - static_cast<int>(state_ >> 33 & 15));
  }
  std::vector<float> take(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = next();
    return values;
  }

 private:
  std::uint64_t state_;
};

struct SameBytesEnd {
  SameBytesEnd(const CodecSpec& spec, const std::vector<float>& initial)
      : y(initial), p(initial.size()) {
    codec = make_edge_codec(spec, Layout::flat(initial.size(), initial.size()), initial);
  }
  BucketValues bucket() { return {0, y, p}; }
  /// A step of the training thread: x = y + p, which it then moves by a little.
  void step(Numbers& numbers) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = y[i] + p[i];
      y[i] = y[i] + numbers.next() * 0x1p-6F;
      p[i] = 0;
    }
  }
  std::vector<float> y, p;
  std::unique_ptr<EdgeCodec> codec;
};

class Digest {
 public:
  template <typename Values>
  void add(const Values& values) {
    hash_ = XXH3_64bits_withSeed(values.data(), values.size() * sizeof(values[0]), hash_);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

/// Six meetings, each after a step of both ends: two asked for by each, and two that cross.
std::uint64_t digest_of(const CodecSpec& spec) {
  Numbers numbers(7);
  const std::vector<float> initial = numbers.take(kFloats);
  SameBytesEnd ends[2] = {{spec, initial}, {spec, initial}};
  Digest digest;
  for (int meeting = 0; meeting < 6; ++meeting) {
    for (SameBytesEnd& end : ends) end.step(numbers);
    SameBytesEnd& asker = ends[meeting % 2];
    SameBytesEnd& other = ends[1 - meeting % 2];
    Bytes offer(asker.codec->offer_form(kFloats).bytes);
    EXPECT_TRUE(asker.codec->offer(asker.bucket(), offer).finite);
    digest.add(offer);
    if (meeting < 4) {
      Bytes reply(other.codec->reply_form(kFloats).bytes);
      const int divisor = 2 + meeting / 2;
      EXPECT_TRUE(other.codec->answer(other.bucket(), offer, divisor, reply).finite);
      EXPECT_TRUE(asker.codec->complete(asker.bucket(), offer, reply, divisor).finite);
      digest.add(reply);
    } else {
      Bytes theirs(other.codec->offer_form(kFloats).bytes);
      EXPECT_TRUE(other.codec->offer(other.bucket(), theirs).finite);
      EXPECT_TRUE(asker.codec->merge(asker.bucket(), {offer}, {theirs}).finite);
      EXPECT_TRUE(other.codec->merge(other.bucket(), {theirs}, {offer}).finite);
      digest.add(theirs);
    }
    for (const SameBytesEnd& end : ends) digest.add(end.p);
  }
  return digest.value();
}

class SameBytes : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(SameBytes, OnEveryArchitecture) {
  const std::map<std::string, std::uint64_t> recorded = {
      {"fp32", 17034864148117322851U}, {"fp16", 1634188348964736419U},
      {"bf16", 6330818803682746733U},  {"int8", 2465568990568059089U},
      {"int4", 4453812487446873226U},  {"topk_0_1", 17794094798248506602U},
  };
  const std::string codec = test::codec_name(GetParam());
  const std::uint64_t digest = digest_of(GetParam());
  ASSERT_TRUE(recorded.contains(codec)) << "record {\"" << codec << "\", " << digest << "U}";
  EXPECT_EQ(digest, recorded.at(codec)) << codec;
}

INSTANTIATE_TEST_SUITE_P(Codecs, SameBytes, ::testing::ValuesIn(test::every_codec(100'000)),
                         [](const auto& info) { return test::codec_name(info.param); });

}  // namespace
}  // namespace stencil
