#include "fast/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "fast/data/dataset.h"
#include "fast/data/loader.h"

namespace fast {
namespace {

constexpr std::size_t kClasses = 10;

std::uint64_t hash_of(const ImageSet& set) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::uint8_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
  std::ranges::for_each(set.labels, add);
  std::ranges::for_each(set.pixels, add);
  return hash;
}

/// Softmax regression by plain SGD: the best a linear model does here.
class LinearModel {
 public:
  explicit LinearModel(std::size_t inputs)
      : inputs_(inputs), weights_(kClasses * inputs), bias_(kClasses) {}

  void train(std::span<const float> image, std::int64_t label, float rate) {
    auto scores = scores_of(image);
    const float top = *std::ranges::max_element(scores);
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - top);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const float error = scores[c] / sum - (static_cast<std::int64_t>(c) == label ? 1.0F : 0.0F);
      float* const row = weights_.data() + c * inputs_;
      for (std::size_t i = 0; i < inputs_; ++i) row[i] -= rate * error * image[i];
      bias_[c] -= rate * error;
    }
  }

  [[nodiscard]] std::int64_t predict(std::span<const float> image) const {
    const auto scores = scores_of(image);
    return std::ranges::max_element(scores) - scores.begin();
  }

 private:
  [[nodiscard]] std::array<float, kClasses> scores_of(std::span<const float> image) const {
    std::array<float, kClasses> scores{};
    for (std::size_t c = 0; c < kClasses; ++c) {
      const float* const row = weights_.data() + c * inputs_;
      float score = bias_[c];
      for (std::size_t i = 0; i < inputs_; ++i) score += row[i] * image[i];
      scores[c] = score;
    }
    return scores;
  }

  std::size_t inputs_;
  std::vector<float> weights_, bias_;
};

double accuracy(const LinearModel& model, const ImageDataset& data) {
  TestLoader loader(data, Dataset(data).test, 64);
  const std::size_t pixels = data.test.shape.pixels();
  std::size_t right = 0;
  Batch batch;
  while (loader.next(batch)) {
    for (std::size_t i = 0; i < batch.labels().size(); ++i) {
      right +=
          model.predict(batch.images().subspan(i * pixels, pixels)) == batch.labels()[i] ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(data.test.size());
}

TEST(Synthetic, ALinearModelStaysUnderSixtyPercent) {
  const auto seed = static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  const ImageDataset data = make_synthetic(8192, 2048, seed);
  const std::size_t pixels = data.train.shape.pixels();
  std::vector<std::uint32_t> shard(data.train.size());
  for (std::uint32_t i = 0; i < shard.size(); ++i) shard[i] = i;
  TrainLoader loader(data, shard, 64, 1);
  LinearModel model(pixels);
  double best = 0;
  for (const float rate : {1e-3F, 3e-4F, 1e-4F}) {
    for (int step = 0; step < 3 * 128; ++step) {
      const Batch batch = loader.next();
      for (std::size_t i = 0; i < batch.labels().size(); ++i) {
        model.train(batch.images().subspan(i * pixels, pixels), batch.labels()[i], rate);
      }
    }
    best = std::max(best, accuracy(model, data));
  }
  RecordProperty("accuracy", std::to_string(best));
  EXPECT_LT(best, 0.6);
  EXPECT_GT(best, 0.12) << "a linear model is to find a little, so that it can be seen learning";
}

/// Recorded once. If it changes, workers of two versions would train on different images.
TEST(Synthetic, OneSeedGivesTheSameImagesOnEveryMachine) {
  const ImageDataset data = make_synthetic(100, 50, 42);
  EXPECT_EQ(hash_of(data.train), 6820375324097644143ULL);
  EXPECT_EQ(hash_of(data.test), 8480126588492854880ULL);
}

TEST(Synthetic, AnImageDoesNotDependOnHowManyAreAskedFor) {
  const ImageDataset few = make_synthetic(33, 7, 5), many = make_synthetic(90, 40, 5);
  EXPECT_TRUE(std::ranges::equal(few.train.pixels,
                                 std::span(many.train.pixels).first(few.train.pixels.size())));
  EXPECT_TRUE(std::ranges::equal(few.test.labels, std::span(many.test.labels).first(7)));
}

TEST(Synthetic, SeedsDifferAndTrainingAndTestImagesToo) {
  const ImageDataset one = make_synthetic(50, 50, 1), two = make_synthetic(50, 50, 2);
  EXPECT_NE(one.train.pixels, two.train.pixels);
  EXPECT_NE(one.train.pixels, one.test.pixels);
}

TEST(Synthetic, ClassesAreBalancedInEveryTen) {
  const ImageDataset data = make_synthetic(200, 30, 9);
  for (std::size_t begin = 0; begin < 200; begin += 10) {
    std::array<int, kClasses> counts{};
    for (std::size_t i = begin; i < begin + 10; ++i) ++counts.at(data.train.labels[i]);
    for (const int count : counts) EXPECT_EQ(count, 1);
  }
}

TEST(Synthetic, MeanAndDeviationAreThoseOfTheImages) {
  const ImageDataset data = make_synthetic(4000, 10, 3);
  constexpr std::size_t kPlane = 256;
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < data.train.size(); ++i) {
      for (const auto pixel : data.train.image(i).subspan(c * kPlane, kPlane)) {
        sum += pixel / 255.0;
        squares += (pixel / 255.0) * (pixel / 255.0);
      }
    }
    const double count = 4000.0 * kPlane, mean = sum / count;
    EXPECT_NEAR(mean, data.mean[c], 0.01);
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean), data.deviation[c], 0.01);
  }
}

}  // namespace
}  // namespace fast
