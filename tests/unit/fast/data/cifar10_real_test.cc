#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "fast/data/dataset.h"

namespace fast {
namespace {

/// Fails by name where the data is not given: a test that skips in silence tests nothing.
class RealCifar10 : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("FAST_CIFAR10_DIR");
    ASSERT_NE(directory, nullptr) << "set FAST_CIFAR10_DIR to the folder of CIFAR-10's binary "
                                     "files (data_batch_1.bin, ..., test_batch.bin)";
    data_ = load_images(std::string("cifar10:") + directory, 1);
  }

  ImageDataset data_;
};

std::array<std::size_t, 10> histogram(const ImageSet& set) {
  std::array<std::size_t, 10> counts{};
  for (const auto label : set.labels) ++counts.at(label);
  return counts;
}

TEST_F(RealCifar10, HoldsTheImagesItShould) {
  EXPECT_EQ(data_.train.size(), 50'000U);
  EXPECT_GE(data_.test.size(), 5'000U);
  EXPECT_EQ(data_.train.pixels.size(), 50'000U * 3072U);
  EXPECT_EQ(data_.test.pixels.size(), data_.test.size() * 3072U);
}

TEST_F(RealCifar10, HasItsLabelsInEqualShares) {
  for (const std::size_t count : histogram(data_.train)) {
    EXPECT_NEAR(static_cast<double>(count), 5'000, 250);
  }
  const double share = static_cast<double>(data_.test.size()) / 10;
  for (const std::size_t count : histogram(data_.test)) {
    EXPECT_NEAR(static_cast<double>(count), share, 0.2 * share);
  }
}

TEST_F(RealCifar10, HasTheMeansItIsNormalisedBy) {
  constexpr std::size_t kPlane = 1024;
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < data_.train.size(); ++i) {
      for (const auto pixel : data_.train.image(i).subspan(c * kPlane, kPlane)) {
        sum += pixel / 255.0;
        squares += (pixel / 255.0) * (pixel / 255.0);
      }
    }
    const double count = static_cast<double>(data_.train.size() * kPlane);
    const double mean = sum / count;
    EXPECT_NEAR(mean, data_.mean[c], 0.005) << "channel " << c;
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean), data_.deviation[c], 0.005)
        << "channel " << c;
  }
}

}  // namespace
}  // namespace fast
