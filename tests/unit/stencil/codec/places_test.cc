// Increasing numbers in few bytes: written, read, and refused where they are invalid.
#include "stencil/codec/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stencil/core/random.h"

namespace stencil {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// With the four bytes after them that a reader may read.
std::vector<unsigned char> written(Places places, const Numbers& numbers) {
  std::vector<unsigned char> bytes(places.bytes() + 4, 0xff);
  PlaceWriter writer(places, bytes.data());
  for (const std::uint32_t number : numbers) writer.add(number);
  return bytes;
}

Numbers read(Places places, const std::vector<unsigned char>& bytes) {
  PlaceReader reader(places, bytes.data());
  Numbers out(places.count);
  for (std::uint32_t& number : out) number = reader.next();
  return out;
}

/// Draws each number below the limit with this probability.
Numbers drawn(Random& random, std::size_t limit, std::size_t count) {
  Numbers out;
  for (std::size_t i = 0; i < limit && out.size() < count; ++i) {
    if (random.below(limit - i) < count - out.size()) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

TEST(Places, AreReadAsTheyWereWritten) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t limit = 1 + random.below(round % 10 == 0 ? 70'000 : 40);
    const Places places{limit, static_cast<std::size_t>(1 + random.below(limit))};
    const Numbers numbers = drawn(random, limit, places.count);
    const auto bytes = written(places, numbers);
    ASSERT_EQ(read(places, bytes), numbers) << limit;
    ASSERT_TRUE(well_formed(places, bytes.data())) << limit;
    ASSERT_EQ(bytes[places.bytes()], 0xff) << "nothing is written behind them";
  }
}

TEST(Places, OfTheWidestBucketAreReadAsTheyWereWritten) {
  for (const std::size_t limit : {std::size_t{1} << 24, (std::size_t{1} << 28) + 3}) {
    const Numbers numbers = {0, 77, static_cast<std::uint32_t>(limit - 1)};
    const Places places{limit, 3};
    EXPECT_EQ(read(places, written(places, numbers)), numbers);
  }
}

TEST(Places, TakeLittleMoreThanTheEntropyOfAllSuchSets) {
  for (const double share : {0.5, 0.3, 0.1, 0.03, 0.01, 0.001}) {
    const std::size_t limit = 65'536;
    const auto count = static_cast<std::size_t>(share * static_cast<double>(limit));
    const double entropy = -(std::log2(share) + (1 - share) / share * std::log2(1 - share));
    const double bits =
        8.0 * static_cast<double>(Places{limit, count}.bytes()) / static_cast<double>(count);
    EXPECT_GE(bits, entropy - 0.01) << share;
    EXPECT_LT(bits, entropy + 1.05) << share;
  }
}

TEST(Places, ThatAreNoneAreRefused) {
  const Places places{100, 4};  // 4 low bits each, 10 bits of the rest
  const Numbers numbers = {3, 17, 18, 99};
  const auto good = written(places, numbers);
  ASSERT_TRUE(well_formed(places, good.data()));
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < 8 * places.bytes(); ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    if (!well_formed(places, bad.data())) continue;
    const Numbers other = read(places, bad);
    ASSERT_NE(other, numbers);
    ASSERT_TRUE(std::ranges::is_sorted(other)) << bit;
    ASSERT_LT(other.back(), 100U) << bit;
    ++accepted;
  }
  EXPECT_GT(accepted, 0U) << "some other numbers";
  EXPECT_LT(accepted, 16U) << "one bit more or less of the rest is never well formed";
  EXPECT_FALSE(well_formed(places, written({100, 4}, {3, 3, 18, 99}).data())) << "twice";
  EXPECT_FALSE(well_formed({98, 4}, written({98, 4}, {3, 17, 18, 99}).data())) << "out of range";
  EXPECT_FALSE(well_formed({100, 3}, good.data()));
}

TEST(Places, OfNothingTakeNothing) {
  EXPECT_EQ((Places{0, 0}).bytes(), 0U);
  EXPECT_EQ((Places{5, 0}).bytes(), 0U);
}

}  // namespace
}  // namespace stencil
