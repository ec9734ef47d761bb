// Codec topk: what an offer shows, and how it is read.
#include "stencil/mix/codecs/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "stencil/codec/byte_order.h"
#include "tests/unit/stencil/mix/top_k_parts.h"

namespace stencil {
namespace {

using namespace test;

constexpr CodecNumber kTopK = 4;

/// One bucket of one end.
struct End {
  explicit End(std::vector<float> initial) : y(std::move(initial)), p(y.size()), shown(y) {}
  edge_delta::Outcome offer(std::size_t k, Bytes& out) {
    const TopK top_k(static_cast<std::uint32_t>(k * TopK::kWhole / y.size()));
    TopKEdgeCodec codec(top_k, kTopK, Layout::flat(y.size(), y.size()), shown);
    const BucketValues bucket{0, y, p};
    codec.shown(bucket).turn = turn;
    out.resize(codec.offer_form(y.size()).bytes);
    const Places places{y.size(), k};
    EXPECT_EQ(out.size(), TopK::kHead + places.bytes() + 4 * k);
    return codec.offer(bucket, out);
  }
  [[nodiscard]] float z(std::size_t i) const { return y[i] + p[i]; }

  std::vector<float> y, p, shown;
  std::uint32_t turn = 0;
};

/// The offer of `end` with k coordinates.
Indices chosen(End& end, std::size_t k) {
  Bytes out;
  EXPECT_TRUE(end.offer(k, out).finite);
  const std::optional<Part> part = Part::read(out, end.y.size());
  if (!part) {
    ADD_FAILURE() << "an offer of ours is malformed";
    return {};
  }
  EXPECT_EQ(part->turn(), end.turn);
  part->for_each([&](std::size_t, std::uint32_t i, float value) {
    EXPECT_EQ(value, end.z(i)) << "as it is, not rounded";
  });
  return indices(*part);
}

TEST(TopK, TakesItsShareOfABucketAndAtLeastOne) {
  const TopK percent(10'000);
  EXPECT_EQ(percent.count(0), 0U);
  EXPECT_EQ(percent.count(1), 1U);
  EXPECT_EQ(percent.count(100), 1U);
  EXPECT_EQ(percent.count(101), 2U);
  EXPECT_EQ(percent.count(65536), 656U);
  EXPECT_EQ(TopK(500'000).count(3), 2U);
  EXPECT_EQ(percent.offer_size(101), 8U + 2 + 1 + 2 * 4) << "two of 5 low bits, 5 bits of the rest";
  EXPECT_EQ(percent.reply_size(101), 2U * 2);
}

TEST(TopK, ShowsThoseThatMovedMostAndAnEighthByTurns) {
  End end(std::vector<float>(100));
  for (std::size_t i = 0; i < 100; ++i) end.p[i] = 1e-3F * static_cast<float>(i % 7);
  for (const std::size_t i : {3U, 50U, 51U, 98U, 99U}) end.p[i] = 1;
  end.p[20] = -5;
  end.p[60] = 0.5F;
  end.turn = 30;
  EXPECT_EQ(chosen(end, 8), (Indices{3, 20, 30, 50, 51, 60, 98, 99}));
  EXPECT_EQ(chosen(end, 9), (Indices{3, 20, 30, 31, 50, 51, 60, 98, 99})) << "two by turns";
  end.turn = 99;
  EXPECT_EQ(chosen(end, 9), (Indices{0, 3, 6, 20, 50, 51, 60, 98, 99})) << "the turns go round";
}

TEST(TopK, AmongEqualsTheFirstCome) {
  End end(std::vector<float>(40));
  std::ranges::fill(end.p, 0.25F);
  end.turn = 5;
  EXPECT_EQ(chosen(end, 4), (Indices{0, 1, 2, 5}));
}

TEST(TopK, WhereFewHaveMovedMoreGoByTurns) {
  End end(noise(1, 10));
  end.turn = 8;
  EXPECT_EQ(chosen(end, 4), (Indices{0, 1, 8, 9})) << "nothing moved";
  end.p[0] = 1;
  EXPECT_EQ(chosen(end, 5), (Indices{0, 1, 2, 8, 9})) << "one in the stretch";
  end.p[5] = kDenormal;
  EXPECT_EQ(chosen(end, 5), (Indices{0, 1, 2, 8, 9})) << "a denormal is no news";
  end.p[6] = 1;
  EXPECT_EQ(chosen(end, 5), (Indices{0, 1, 6, 8, 9}));
}

TEST(TopK, OfOneElementShowsIt) {
  End end({7});
  EXPECT_EQ(chosen(end, 1), Indices{0});
  end.p[0] = 1;
  EXPECT_EQ(chosen(end, 1), Indices{0});
}

TEST(TopK, ShowsExactlyKOfAnyBucketAndNoneThatMovedLessThanOneLeftOut) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Random random(seed());
  for (int round = 0; round < 2000; ++round) {
    const std::size_t n = 1 + random.below(round % 10 == 0 ? 5000 : 60);
    const TopK top_k(static_cast<std::uint32_t>(1 + random.below(TopK::kLargestShare)));
    End end(noise(round, n));
    for (float& p : end.p) {
      const double scale = std::pow(10.0, -40 + 45 * random.uniform());
      if (random.below(3) != 0) p = static_cast<float>(scale * random.normal());
    }
    end.turn = static_cast<std::uint32_t>(random.below(n));
    const std::size_t k = top_k.count(n);
    const Indices got = chosen(end, k);
    ASSERT_EQ(got.size(), k);
    const std::set<std::uint32_t> in(got.begin(), got.end());
    ASSERT_EQ(in.size(), k);
    for (std::size_t i = 0; i < TopKEdgeCodec::by_turns(k); ++i) {
      ASSERT_TRUE(in.contains(static_cast<std::uint32_t>((end.turn + i) % n)));
    }
    const auto moved = [&](std::size_t i) { return std::abs(end.shown[i] - end.z(i)); };
    float most_left_out = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (!in.contains(i)) most_left_out = std::max(most_left_out, moved(i));
    }
    std::size_t less = 0;
    for (const std::uint32_t i : got) less += moved(i) < most_left_out * (1 - 1.0F / 16) ? 1 : 0;
    ASSERT_LE(less, most_left_out < 1e-37F ? k : TopKEdgeCodec::by_turns(k));
  }
}

TEST(TopK, WhatIsNotFiniteIsNotShown) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    for (const std::size_t place : {0U, 1023U, 1024U, 1999U}) {
      End end(noise(2, 2000));
      end.p[place] = bad;
      Bytes out;
      EXPECT_FALSE(end.offer(20, out).finite) << bad << " at " << place;
    }
  }
}

TEST(Part, IsReadOnlyWhereItIsOneOfItsBucket) {
  EXPECT_TRUE(Part::read(written(10, 0, {0, 3, 9}), 10));
  EXPECT_TRUE(Part::read(written(10, 9, {9}), 10));
  EXPECT_FALSE(Part::read(written(10, 10, {0, 3, 9}), 10)) << "a turn out of range";
  EXPECT_FALSE(Part::read(written(12, 0, {0, 3, 10}), 10)) << "of another bucket";
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_FALSE(Part::read(written(10, 0, {0, 3}, bad), 10)) << bad;
  }
  EXPECT_TRUE(Part::read(written(10, 0, {0, 3}, kDenormal), 10));
  EXPECT_FALSE(Part::read({}, 10)) << "an offer of nothing";
  const Bytes good = written(10, 0, {0, 3, 9});
  for (const unsigned k : {0U, 2U, 4U, 11U, ~0U}) {
    Bytes bad = good;
    store_little_endian(k, reinterpret_cast<unsigned char*>(bad.data()) + 4);
    EXPECT_FALSE(Part::read(bad, 10)) << "of another size than its k, " << k;
  }
}

}  // namespace
}  // namespace stencil
