#include "stencil/core/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "stencil/core/error.h"

namespace stencil {
namespace {

ParameterSlot slot(std::string name, std::vector<std::int64_t> shape) {
  return {std::move(name), std::move(shape), 999, 999};
}

Layout typed(ElementType type) {
  return Layout({{.name = "", .shape = {16}, .type = type}}, 10);
}

Layout small(std::size_t bucket_floats = 10) {
  return Layout({slot("weight", {3, 4}), slot("bias", {3}), slot("scale", {})}, bucket_floats);
}

TEST(Layout, LaysParametersEndToEnd) {
  const auto layout = small();
  ASSERT_EQ(layout.parameters().size(), 3u);
  EXPECT_EQ(layout.parameters()[0].offset, 0u);
  EXPECT_EQ(layout.parameters()[0].size, 12u);
  EXPECT_EQ(layout.parameters()[1].offset, 12u);
  EXPECT_EQ(layout.parameters()[1].size, 3u);
  EXPECT_EQ(layout.parameters()[2].offset, 15u);
  EXPECT_EQ(layout.parameters()[2].size, 1u) << "a scalar is one float";
  EXPECT_EQ(layout.size(), 16u);
}

TEST(Layout, BucketsTileTheFlatVector) {
  for (const std::size_t size : {1u, 9u, 10u, 11u, 20u, 1234u}) {
    const auto layout = Layout::flat(size, 10);
    std::size_t next = 0;
    for (std::size_t i = 0; i < layout.bucket_count(); ++i) {
      const auto bucket = layout.bucket(i);
      EXPECT_EQ(bucket.begin, next);
      EXPECT_GT(bucket.size, 0u);
      EXPECT_LE(bucket.size, 10u);
      next += bucket.size;
    }
    EXPECT_EQ(next, size);
    EXPECT_THROW((void)layout.bucket(layout.bucket_count()), InvariantError);
  }
}

TEST(Layout, OfAnEmptyModelHasNoBuckets) {
  EXPECT_EQ(Layout::flat(0).bucket_count(), 0u);
  EXPECT_EQ(Layout({}).bucket_count(), 0u);
  EXPECT_EQ(Layout({slot("none", {0, 5})}).size(), 0u);
}

TEST(Layout, HashIsTheSameOnEveryMachineAndInEveryVersion) {
  EXPECT_EQ(small().hash(), 4006422939996098914ULL);
  EXPECT_EQ(Layout::flat(1000, 65536).hash(), 12108188338667949781ULL);
}

TEST(Layout, HashDiffersWithNameShapeOrderAndBucketSize) {
  const std::set<std::uint64_t> hashes = {
      small().hash(),
      small(11).hash(),
      Layout({slot("weight", {4, 3}), slot("bias", {3}), slot("scale", {})}, 10).hash(),
      Layout({slot("weight", {12}), slot("bias", {3}), slot("scale", {})}, 10).hash(),
      Layout({slot("bias", {3}), slot("weight", {3, 4}), slot("scale", {})}, 10).hash(),
      Layout({slot("weightb", {3, 4}), slot("ias", {3}), slot("scale", {})}, 10).hash(),
      Layout({slot("weight", {3, 4}), slot("bias", {3}), slot("scale", {1})}, 10).hash(),
      Layout::flat(16, 10).hash(),
      Layout({}, 10).hash(),
      typed(ElementType::kF64).hash(),
      typed(ElementType::kF16).hash(),
      typed(ElementType::kBF16).hash(),
  };
  EXPECT_EQ(hashes.size(), 12u);
  EXPECT_EQ(typed(ElementType::kF32).hash(), Layout::flat(16, 10).hash());
}

TEST(Layout, RefusesWhatIsNoModel) {
  EXPECT_THROW(Layout({slot("a", {-1})}), ConfigError);
  EXPECT_THROW(Layout({slot("a", {1}), slot("a", {2})}), ConfigError);
}

TEST(Layout, RefusesSizesThatOverflow) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(Layout({slot("a", {kHuge, kHuge})}), ConfigError);
  EXPECT_THROW(Layout({slot("a", {kHuge})}), ConfigError);
  EXPECT_THROW(Layout({slot("a", {1LL << 60}), slot("b", {1})}), ConfigError);
  constexpr int kPower = std::min(40, std::numeric_limits<std::size_t>::digits - 3);
  EXPECT_THROW(Layout::flat(std::size_t{1} << kPower, 1), ConfigError);
  EXPECT_EQ(Layout({slot("a", {kHuge, kHuge, 0})}).size(), 0u);
}

TEST(Layout, ASmallModelIsCutIntoSmallBuckets) {
  const auto buckets = [](std::size_t floats) { return Layout::flat(floats).bucket_floats(); };
  EXPECT_EQ(buckets(0), 4096u);
  EXPECT_EQ(buckets(1000), 4096u) << "too small to be worth cutting";
  EXPECT_EQ(buckets(78'042), 4096u);
  EXPECT_EQ(buckets(270'000), 16384u) << "a power of two that makes 16 or more";
  EXPECT_EQ(buckets(11'170'000), 65536u);
  EXPECT_EQ(Layout::flat(78'042).hash(), Layout::flat(78'042, 4096).hash());
}

}  // namespace
}  // namespace stencil
