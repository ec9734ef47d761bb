#include "fast/data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

/// Images that identify themselves: example i is filled with i, its top left pixel with 255.
ImageDataset numbered(std::size_t count, int side, bool augment) {
  ImageDataset data;
  data.train.shape = {2, side, side, 10};
  for (std::size_t i = 0; i < count; ++i) {
    data.train.labels.push_back(static_cast<std::uint8_t>(i % 10));
    const std::size_t begin = data.train.pixels.size();
    data.train.pixels.resize(begin + data.train.shape.pixels(), static_cast<std::uint8_t>(i + 1));
    data.train.pixels[begin] = 255;
  }
  data.test = data.train;
  data.mean = {0.25F, 0.5F};
  data.deviation = {0.5F, 0.25F, 1, 1};
  data.crop_and_flip = augment;
  return data;
}

std::vector<std::uint32_t> all_of(const ImageDataset& data) {
  std::vector<std::uint32_t> shard(data.train.size());
  std::iota(shard.begin(), shard.end(), 0U);
  return shard;
}

/// Which example an unaugmented image is, from a pixel of its second channel.
int example_of(const Batch& batch, std::size_t i, const ImageShape& shape) {
  const float value = batch.images()[(i + 1) * shape.pixels() - 1];
  return static_cast<int>((value * 0.25F + 0.5F) * 255.0F + 0.5F) - 1;
}

TEST(TrainLoader, EveryPassVisitsEachExampleOnceInANewOrder) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  const ImageDataset data = numbered(60, 4, false);
  for (const std::size_t batch : {1U, 7U, 60U, 100U}) {
    TrainLoader loader(data, all_of(data), batch, seed);
    std::vector<int> visits;
    while (visits.size() < 60 * 7) {
      const Batch now = loader.next();
      ASSERT_EQ(now.labels().size(), batch);
      ASSERT_EQ(now.images().size(), batch * data.train.shape.pixels());
      for (std::size_t i = 0; i < batch; ++i) {
        visits.push_back(example_of(now, i, data.train.shape));
        ASSERT_EQ(now.labels()[i], visits.back() % 10);
      }
    }
    std::vector<int> before;
    for (std::size_t pass = 0; pass < 7; ++pass) {
      std::vector<int> order(visits.begin() + static_cast<std::ptrdiff_t>(pass * 60),
                             visits.begin() + static_cast<std::ptrdiff_t>(pass * 60 + 60));
      EXPECT_NE(order, before);
      before = order;
      std::ranges::sort(order);
      for (int i = 0; i < 60; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST(TrainLoader, OnlyTheShardIsVisitedAlsoWhereABatchIsLarger) {
  const ImageDataset data = numbered(60, 4, false);
  TrainLoader loader(data, {3, 17, 44}, 32, 5);
  std::map<int, int> visits;
  const Batch batch = loader.next();
  for (std::size_t i = 0; i < 32; ++i) ++visits[example_of(batch, i, data.train.shape)];
  ASSERT_EQ(visits.size(), 3U);
  for (const int example : {3, 17, 44}) EXPECT_NEAR(visits[example], 32 / 3.0, 1);
}

TEST(TrainLoader, PixelsAreNormalisedByChannel) {
  const ImageDataset data = numbered(1, 4, false);
  TrainLoader loader(data, {0}, 1, 1);
  const Batch batch = loader.next();
  EXPECT_FLOAT_EQ(batch.images()[0], (1.0F - 0.25F) / 0.5F);
  EXPECT_NEAR(batch.images()[1], (1.0F / 255 - 0.25F) / 0.5F, 1e-6);
  EXPECT_NEAR(batch.images()[16], (1.0F / 255 - 0.5F) / 0.25F, 1e-6);
}

/// Against a plain reference: every augmented image is one of the 81 crops or a mirror of one.
TEST(TrainLoader, AugmentedImagesAreCropsWithZeroPaddingAndMirrors) {
  constexpr int kSide = 6;
  ImageDataset data;
  data.train.shape = {1, kSide, kSide, 10};
  for (int i = 0; i < kSide * kSide; ++i) {
    data.train.pixels.push_back(static_cast<std::uint8_t>(100 + i));
  }
  data.train.labels = {4};
  data.mean = {0};
  data.deviation = {1, 1, 1, 1};
  data.crop_and_flip = true;

  const auto crop = [&](int dx, int dy, bool mirror) {
    std::vector<int> image;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const int from_x = (mirror ? kSide - 1 - x : x) + dx, from_y = y + dy;
        const bool outside = from_x < 0 || from_y < 0 || from_x >= kSide || from_y >= kSide;
        image.push_back(outside ? 0 : 100 + from_y * kSide + from_x);
      }
    }
    return image;
  };
  std::map<std::vector<int>, int> seen;
  for (int dy = -4; dy <= 4; ++dy) {
    for (int dx = -4; dx <= 4; ++dx) {
      for (const bool mirror : {false, true}) seen[crop(dx, dy, mirror)] = 0;
    }
  }
  ASSERT_EQ(seen.size(), 162U);

  constexpr int kDraws = 162 * 100;
  TrainLoader loader(data, {0}, 1, 77);
  for (int i = 0; i < kDraws; ++i) {
    std::vector<int> image;
    for (const float value : loader.next().images()) {
      image.push_back(static_cast<int>(value * 255 + 0.5F));
    }
    const auto found = seen.find(image);
    ASSERT_NE(found, seen.end()) << "no crop of the image";
    ++found->second;
  }
  for (const auto& [image, times] : seen) EXPECT_NEAR(times, 100, 60);
}

TEST(TrainLoader, PlainBatchesAreNotAugmented) {
  const ImageDataset data = numbered(20, 8, true);
  TrainLoader loader(data, all_of(data), 20, 3);
  const Batch batch = loader.next_plain();
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_FLOAT_EQ(batch.images()[i * data.train.shape.pixels()], 1.5F);
  }
}

TEST(TrainLoader, OneSeedRepeatsAndAnotherDiffers) {
  const ImageDataset data = numbered(50, 8, true);
  TrainLoader one(data, all_of(data), 16, 3), same(data, all_of(data), 16, 3),
      other(data, all_of(data), 16, 4);
  bool differs = false;
  for (int i = 0; i < 20; ++i) {
    const Batch a = one.next(), b = same.next(), c = other.next();
    EXPECT_TRUE(std::ranges::equal(a.images(), b.images()));
    EXPECT_TRUE(std::ranges::equal(a.labels(), b.labels()));
    differs = differs || !std::ranges::equal(a.images(), c.images());
  }
  EXPECT_TRUE(differs);
}

TEST(TrainLoader, BuffersStayWhereTheyAre) {
  const ImageDataset data = numbered(50, 8, true);
  TrainLoader loader(data, all_of(data), 16, 3);
  const float* const images = loader.next().images().data();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(loader.next().images().data(), images);
}

TEST(TrainLoader, WhatItCannotServeIsRefused) {
  const ImageDataset data = numbered(5, 4, false);
  EXPECT_THROW(TrainLoader(data, {}, 4, 1), DataError);
  EXPECT_THROW(TrainLoader(data, {5}, 4, 1), DataError);
  EXPECT_THROW(TrainLoader(data, {0}, 0, 1), ConfigError);
}

TEST(TestLoader, OnePassGivesEachExampleOnceInOrderAndThenBeginsAgain) {
  const ImageDataset data = numbered(50, 4, true);
  for (const std::size_t batch : {1U, 16U, 50U, 64U}) {
    TestLoader loader(data, Dataset(data).test, batch);
    for (int pass = 0; pass < 2; ++pass) {
      int expected = 0;
      Batch now;
      while (loader.next(now)) {
        ASSERT_EQ(now.images().size(), now.labels().size() * data.test.shape.pixels());
        for (std::size_t i = 0; i < now.labels().size(); ++i, ++expected) {
          ASSERT_EQ(example_of(now, i, data.test.shape), expected);
        }
      }
      EXPECT_EQ(expected, 50);
    }
  }
}

TEST(TestLoader, APartIsEvenlySpreadOverTheSet) {
  const ImageDataset data = numbered(50, 4, true);
  TestLoader loader(data, Dataset(data).test, 4, 10);
  EXPECT_EQ(loader.size(), 10U);
  std::vector<int> found;
  for (Batch now; loader.next(now);) {
    for (std::size_t i = 0; i < now.size; ++i) {
      found.push_back(example_of(now, i, data.test.shape));
    }
  }
  EXPECT_EQ(found, (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45}));
  EXPECT_EQ(TestLoader(data, Dataset(data).test, 4, 1000).size(), 50U);
}

/// Numbers from 0 on, one each, of which some are NaN.
class Holey final : public ExampleSet {
 public:
  Holey(std::size_t size, std::set<std::size_t> bad) : size_(size), bad_(std::move(bad)) {}
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    return std::vector<std::uint32_t>(size_);
  }
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  void write(std::size_t first, std::size_t count, stencil::Random* /*random*/,
             const ValuesOut& inputs, const ValuesOut& targets) const override {
    for (std::size_t i = 0; i < count; ++i) {
      std::get<std::span<float>>(inputs)[i] =
          bad_.contains(first + i) ? std::nanf("") : static_cast<float>(first + i);
      std::get<std::span<std::int64_t>>(targets)[i] = 0;
    }
  }

 private:
  std::size_t size_;
  std::set<std::size_t> bad_;
};

Dataset holey(std::size_t size, std::set<std::size_t> bad) {
  Dataset data;
  data.spec.input = {ValueType::kFloat32, {1}};
  data.spec.target = {ValueType::kInt64, {}};
  data.spec.classes = 1;
  data.train = data.test = std::make_shared<Holey>(size, std::move(bad));
  return data;
}

TEST(LoaderTest, ExamplesThatAreNotFiniteAreLeftOutAndCounted) {
  const Dataset data = holey(10, {3, 7});
  std::vector<std::uint32_t> shard(10);
  std::iota(shard.begin(), shard.end(), 0U);
  TrainLoader loader(data, shard, 4, 1);
  std::map<float, int> seen;
  for (int i = 0; i < 4; ++i) {
    const Batch batch = loader.next();
    EXPECT_EQ(batch.size, 4U);
    for (const float value : batch.images()) ++seen[value];
  }
  EXPECT_EQ(seen.size(), 8U) << "two passes over those that are finite";
  for (const auto& [value, times] : seen) EXPECT_EQ(times, 2) << value;
  EXPECT_GE(loader.left_out().count, 2U);
  EXPECT_TRUE(loader.left_out().first == 3 || loader.left_out().first == 7);
  TrainLoader none(holey(3, {0, 1, 2}), {0, 1, 2}, 2, 1);
  EXPECT_THROW((void)none.next(), DataError);
}

TEST(TestLoader, ExamplesThatAreNotFiniteAreLeftOut) {
  const Dataset data = holey(10, {0, 1, 2, 3, 6});
  for (const std::size_t most : {0U, 5U}) {
    TestLoader loader(data, data.test, 4, most);
    std::vector<float> seen;
    for (Batch batch; loader.next(batch);) {
      for (const float value : batch.images()) seen.push_back(value);
    }
    EXPECT_EQ(seen, most == 0 ? (std::vector<float>{4, 5, 7, 8, 9}) : (std::vector<float>{4, 8}));
  }
}

TEST(TestLoader, AnEmptySetIsOverAtOnce) {
  ImageDataset data = numbered(5, 4, false);
  data.test = {data.train.shape};
  TestLoader loader(data, Dataset(data).test, 16);
  Batch batch;
  EXPECT_FALSE(loader.next(batch));
}

}  // namespace
}  // namespace fast
