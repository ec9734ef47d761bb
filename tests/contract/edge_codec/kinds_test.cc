// The contract of mix/edge_codec.h, for every codec of the product's list: what two ends of an edge
// do to each other's model, each with what it keeps of the other.
#include "stencil/mix/edge_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/payload.h"
#include "stencil/core/random.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

std::vector<float> noise(std::uint64_t index, std::size_t floats) {
  Random random(Random::derive(seed(), index));
  std::vector<float> values(floats);
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

/// One end of an edge, with a model of two buckets that differs from the other end's.
struct End {
  static constexpr std::size_t kFloats = 700;
  static constexpr std::size_t kBucket = 400;

  End(const CodecSpec& spec, std::uint64_t index)
      : y(noise(index, kFloats)), p(kFloats), codec(make_edge_codec(spec, layout(), y)) {}
  static Layout layout() { return Layout::flat(kFloats, kBucket); }

  BucketValues bucket(std::uint32_t index) {
    const BucketRange range = layout().bucket(index);
    return {index, std::span(y).subspan(range.begin, range.size),
            std::span(p).subspan(range.begin, range.size)};
  }
  [[nodiscard]] double z(std::size_t i) const { return double{y[i]} + p[i]; }

  Bytes offer(std::uint32_t index) {
    Bytes bytes(codec->offer_form(bucket(index).y.size()).bytes);
    EXPECT_TRUE(codec->offer(bucket(index), bytes).finite);
    return bytes;
  }
  Bytes room_for_reply(std::uint32_t index) {
    return Bytes(codec->reply_form(bucket(index).y.size()).bytes);
  }

  std::vector<float> y, p;
  std::unique_ptr<EdgeCodec> codec;
};

class EdgeCodecContract : public ::testing::TestWithParam<CodecSpec> {
 protected:
  EdgeCodecContract() : trace_(__FILE__, __LINE__, "seed " + std::to_string(seed())) {}

  std::vector<double> sums() {
    std::vector<double> all(End::kFloats);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = ends_[0].z(i) + ends_[1].z(i);
    return all;
  }
  void expect_sums(const std::vector<double>& before) {
    const std::vector<double> after = sums();
    for (std::size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(after[i], before[i], 4e-6) << i;
  }
  double apart2() {
    double sum = 0;
    for (std::size_t i = 0; i < End::kFloats; ++i) {
      sum += std::pow(ends_[0].z(i) - ends_[1].z(i), 2);
    }
    return sum;
  }
  void ask(int who, std::uint32_t bucket, int divisor = 2) {
    End& asker = ends_[static_cast<std::size_t>(who)];
    End& other = ends_[static_cast<std::size_t>(1 - who)];
    const Bytes offer = asker.offer(bucket);
    Bytes reply = other.room_for_reply(bucket);
    ASSERT_TRUE(other.codec->answer(other.bucket(bucket), offer, divisor, reply).finite);
    ASSERT_TRUE(asker.codec->complete(asker.bucket(bucket), offer, reply, divisor).finite);
  }
  void cross(std::uint32_t bucket) {
    const Bytes a = ends_[0].offer(bucket), b = ends_[1].offer(bucket);
    ASSERT_TRUE(ends_[0].codec->merge(ends_[0].bucket(bucket), {a}, {b}).finite);
    ASSERT_TRUE(ends_[1].codec->merge(ends_[1].bucket(bucket), {b}, {a}).finite);
  }
  /// A step of training at both ends, after which they are about as far apart as before.
  void step(float size, std::uint64_t index) {
    for (std::size_t end = 0; end < 2; ++end) {
      const std::vector<float> moved = noise(1000 + 2 * index + end, End::kFloats);
      for (std::size_t i = 0; i < End::kFloats; ++i) {
        ends_[end].y[i] += ends_[end].p[i] + size * moved[i];
        ends_[end].p[i] = 0;
      }
    }
  }

  ::testing::ScopedTrace trace_;
  std::array<End, 2> ends_{End(GetParam(), 1), End(GetParam(), 2)};
};

TEST_P(EdgeCodecContract, what_is_answered_and_completed_keeps_the_sum) {
  for (const int divisor : {2, 3}) {
    for (int round = 0; round < 10; ++round) {
      const std::vector<double> before = sums();
      ask(round % 2, static_cast<std::uint32_t>(round / 2 % 2), divisor);
      expect_sums(before);
      step(0.01F, static_cast<std::uint64_t>(round));
    }
  }
}

TEST_P(EdgeCodecContract, what_is_completed_after_a_step_keeps_the_sum_all_the_same) {
  const Bytes offer = ends_[0].offer(0);
  Bytes reply = ends_[1].room_for_reply(0);
  const std::vector<double> before = sums();
  ASSERT_TRUE(ends_[1].codec->answer(ends_[1].bucket(0), offer, 2, reply).finite);
  for (float& v : ends_[0].y) v += 3;
  ASSERT_TRUE(ends_[0].codec->complete(ends_[0].bucket(0), offer, reply, 2).finite);
  for (float& v : ends_[0].y) v -= 3;
  expect_sums(before);
}

TEST_P(EdgeCodecContract, offers_that_cross_keep_the_sum) {
  for (int round = 0; round < 10; ++round) {
    const std::vector<double> before = sums();
    cross(static_cast<std::uint32_t>(round % 2));
    expect_sums(before);
    step(0.01F, static_cast<std::uint64_t>(round));
  }
}

TEST_P(EdgeCodecContract, an_offer_that_crosses_an_exact_one_keeps_the_sum) {
  const std::vector<double> before = sums();
  const Bytes coded = ends_[0].offer(0);
  std::vector<float> shown(End::kBucket);
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = ends_[1].y[i] + ends_[1].p[i];
  const auto exact = std::as_bytes(std::span(shown));
  ASSERT_TRUE(ends_[0].codec->merge(ends_[0].bucket(0), {coded}, {exact, true}).finite);
  ASSERT_TRUE(ends_[1].codec->merge(ends_[1].bucket(0), {exact, true}, {coded}).finite);
  expect_sums(before);
}

/// For either end as asker and every kind of meeting; the ends are never further apart than at the
/// start.
TEST_P(EdgeCodecContract, exchanges_bring_two_ends_together) {
  for (const bool crossing : {false, true}) {
    SCOPED_TRACE(crossing);
    ends_ = {End(GetParam(), 1), End(GetParam(), 2)};
    const double start = apart2();
    // Codecs with state about the other end learn it from answers.
    for (const std::uint32_t bucket : {0U, 1U}) ask(0, bucket);
    for (int round = 0; round < 300; ++round) {
      for (const std::uint32_t bucket : {0U, 1U}) {
        crossing ? cross(bucket) : ask(round % 2, bucket);
      }
      ASSERT_LE(apart2(), start * 1.01);
    }
    // Within the precision of the values: bf16 keeps 2^-8 of them.
    EXPECT_LT(std::sqrt(apart2() / start), 0.01);
  }
}

TEST_P(EdgeCodecContract, payloads_have_the_sizes_of_their_forms_and_nothing_is_written_beyond) {
  for (const std::uint32_t bucket : {0U, 1U}) {
    const std::size_t floats = ends_[0].bucket(bucket).y.size();
    const CodedForm offer_form = ends_[0].codec->offer_form(floats);
    const CodedForm reply_form = ends_[1].codec->reply_form(floats);
    Bytes offer(offer_form.bytes + 64, std::byte{0x5a});
    Bytes reply(reply_form.bytes + 64, std::byte{0x5a});
    const auto coded = std::span(offer).first(offer_form.bytes);
    ASSERT_TRUE(ends_[0].codec->offer(ends_[0].bucket(bucket), coded).finite);
    ASSERT_TRUE(
        ends_[1]
            .codec
            ->answer(ends_[1].bucket(bucket), coded, 2, std::span(reply).first(reply_form.bytes))
            .finite);
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(offer[offer_form.bytes + i], std::byte{0x5a});
      ASSERT_EQ(reply[reply_form.bytes + i], std::byte{0x5a});
    }
  }
  EXPECT_EQ(ends_[0].codec->reply_form(0).bytes, 0U);
}

TEST_P(EdgeCodecContract, a_model_that_is_not_finite_is_neither_offered_nor_mixed) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    for (const std::size_t place : {std::size_t{0}, End::kBucket - 1}) {
      ends_ = {End(GetParam(), 1), End(GetParam(), 2)};
      ends_[0].p[place] = bad;
      Bytes offer(ends_[0].codec->offer_form(End::kBucket).bytes);
      EXPECT_FALSE(ends_[0].codec->offer(ends_[0].bucket(0), offer).finite) << bad;
    }
  }
}

/// A neighbour may send anything: either it is refused and changes nothing, or its result is
/// finite.
TEST_P(EdgeCodecContract, any_bytes_leave_a_finite_model_and_what_is_refused_changes_nothing) {
  Random random(seed());
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    ends_ = {End(GetParam(), 1), End(GetParam(), 2)};
    End& end = ends_[0];
    const Bytes ours = end.offer(0);
    Bytes theirs = round % 2 == 0 ? ends_[1].offer(0) : Bytes(ours.size());
    Bytes reply = end.room_for_reply(0);
    const std::size_t damaged = round % 2 == 0 ? 1 + random.below(4) : theirs.size();
    for (std::size_t i = 0; i < damaged; ++i) {
      theirs[round % 2 == 0 ? random.below(theirs.size()) : i] =
          static_cast<std::byte>(random.below(256));
    }
    for (std::byte& byte : reply) byte = static_cast<std::byte>(random.below(256));
    const std::vector<float> before = end.p;
    Bytes out = end.room_for_reply(0);
    const int what = round % 3;
    const edge_delta::Outcome outcome = what == 0 ? end.codec->answer(end.bucket(0), theirs, 2, out)
                                        : what == 1
                                            ? end.codec->complete(end.bucket(0), ours, reply, 2)
                                            : end.codec->merge(end.bucket(0), {ours}, {theirs});
    if (!outcome.finite) {
      ++refused;
      ASSERT_EQ(end.p, before) << what;
    }
    for (const float value : end.p) ASSERT_TRUE(std::isfinite(value)) << what;
  }
  EXPECT_GT(refused, 0);
}

/// A lost answer is lost for both ends; the edge continues from any such state.
TEST_P(EdgeCodecContract, lost_answers_and_restarts_of_one_end_leave_it_sound) {
  for (int round = 0; round < 300; ++round) {
    const auto bucket = static_cast<std::uint32_t>(round % 2);
    if (round % 50 == 10) {
      // Withdrawn: the offer was never answered.
      (void)ends_[0].offer(bucket);
    }
    if (round % 50 == 30) {
      // One end begins anew, with the model that it has.
      const CodecSpec spec = GetParam();
      std::vector<float> z(End::kFloats);
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<float>(ends_[1].z(i));
      ends_[1].y = z;
      std::ranges::fill(ends_[1].p, 0.0F);
      ends_[1].codec = make_edge_codec(spec, End::layout(), z);
    }
    const std::vector<double> before = sums();
    ask(round % 3 == 0 ? 1 : 0, bucket);
    expect_sums(before);
  }
  ends_[0].codec->adopted(ends_[0].bucket(0));
  for (int round = 0; round < 100; ++round) {
    for (const std::uint32_t bucket : {0U, 1U}) ask(round % 2, bucket);
  }
  double norm2 = 0;
  for (std::size_t i = 0; i < End::kFloats; ++i) norm2 += std::pow(ends_[0].z(i), 2);
  EXPECT_LT(std::sqrt(apart2() / norm2), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EdgeCodecContract, ::testing::ValuesIn(test::every_codec(100'000)),
                         [](const auto& info) { return test::codec_name(info.param); });

}  // namespace
}  // namespace stencil
