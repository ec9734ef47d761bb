// The statistics of BatchNorm, taken again after training or averaged with neighbours.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/torch/models/torch_learner.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::Examples;
using test::kCifar;
using test::options_for;

std::vector<float> tensor_of(ModelAdapter& adapter, const std::string& name) {
  for (const auto& tensor : adapter.state()) {
    if (tensor.name != name) continue;
    const auto* data = reinterpret_cast<const float*>(tensor.bytes.data());
    return {data, data + tensor.bytes.size() / sizeof(float)};
  }
  return {};
}
TEST(TorchStatistics, StatisticsAreTheMeanOverBatchesAndTheMomentumComesBack) {
  const ImageShape shape{3, 8, 8, 4};
  const auto learner = std::make_unique<TorchLearner>(options_for("resnet8", shape));
  ASSERT_EQ(learner->statistics(), Statistics::kLocal);
  const auto run_over = [&](std::uint64_t first, std::uint64_t last) {
    learner->begin_statistics();
    for (auto i = first; i < last; ++i) {
      learner->accumulate_statistics(Examples(shape, 8, i).batch());
    }
    return tensor_of(learner->adapter(), "layer2.0.bn1.running_var");
  };
  std::vector<std::vector<float>> single;
  for (std::uint64_t i = 0; i < 4; ++i) single.push_back(run_over(i, i + 1));
  const auto all = run_over(0, 4);
  ASSERT_EQ(all.size(), 32U);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const float mean = (single[0][c] + single[1][c] + single[2][c] + single[3][c]) / 4;
    EXPECT_NEAR(all[c], mean, 1e-5F * (1 + std::abs(mean)));
  }

  // Back in training a batch counts for a tenth: the exponential average of before.
  const auto step_batch = Examples(shape, 8, 9);
  auto fresh = std::make_unique<TorchLearner>(options_for("resnet8", shape));
  fresh->begin_statistics();
  fresh->accumulate_statistics(step_batch.batch());
  const auto of_batch = tensor_of(fresh->adapter(), "layer2.0.bn1.running_var");
  learner->train_step(step_batch.batch());
  const auto after = tensor_of(learner->adapter(), "layer2.0.bn1.running_var");
  for (std::size_t c = 0; c < all.size(); ++c) {
    EXPECT_NEAR(after[c], 0.9F * all[c] + 0.1F * of_batch[c], 1e-4F * (1 + std::abs(after[c])));
  }
}

TEST(TorchStatistics, StatisticsThatAreAveragedFollowTrainingAndAreEstimatedAllTheSame) {
  const ImageShape shape{3, 8, 8, 4};
  LearnerOptions options = options_for("resnet8", shape);
  const auto plain = std::make_unique<TorchLearner>(options);
  options.mix_buffers = true;
  const auto mixed = std::make_unique<TorchLearner>(options);
  ASSERT_EQ(mixed->statistics(), Statistics::kExchanged);
  const auto variance = [](TorchLearner& learner) {
    return tensor_of(learner.adapter(), "layer2.0.bn1.running_var");
  };
  const auto slots = [&] {
    const std::span<const float> x = mixed->adapter().values();
    return std::vector<float>(x.begin() + plain->adapter().values().size(), x.end());
  };
  const auto before = variance(*mixed);
  const std::vector<float> shown = slots();
  const Examples step(shape, 8, 1);
  mixed->train_step(step.batch());
  plain->train_step(step.batch());
  EXPECT_EQ(variance(*mixed), variance(*plain));
  EXPECT_NE(variance(*mixed), before);
  EXPECT_FALSE(shown.empty());
  EXPECT_EQ(slots(), shown) << "neighbours would see what no step of theirs has made";
  for (TorchLearner* learner : {plain.get(), mixed.get()}) {
    learner->begin_statistics();
    learner->accumulate_statistics(step.batch());
  }
  EXPECT_EQ(variance(*mixed), variance(*plain));
}

TEST(TorchStatistics, StatisticsOfTheFirstLayerEqualThoseComputedByHand) {
  const ImageShape shape{1, 6, 6, 2};
  const auto learner = std::make_unique<TorchLearner>(options_for("resnet8", shape));
  const Examples examples(shape, 4, 2);
  learner->begin_statistics();
  learner->accumulate_statistics(examples.batch());
  const auto weights = tensor_of(learner->adapter(), "conv1.weight");  // [16, 1, 3, 3]
  const auto means = tensor_of(learner->adapter(), "bn1.running_mean");
  const auto variances = tensor_of(learner->adapter(), "bn1.running_var");
  for (std::size_t channel = 0; channel < 16; ++channel) {
    double sum = 0, squares = 0;
    for (int n = 0; n < 4; ++n) {
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 6; ++x) {
          double value = 0;
          for (int i = 0; i < 9; ++i) {
            const int row = y + i / 3 - 1, column = x + i % 3 - 1;
            if (row < 0 || row > 5 || column < 0 || column > 5) continue;
            value += static_cast<double>(weights[channel * 9 + static_cast<std::size_t>(i)]) *
                     examples.images[static_cast<std::size_t>(n * 36 + row * 6 + column)];
          }
          sum += value;
          squares += value * value;
        }
      }
    }
    const double mean = sum / 144;
    EXPECT_NEAR(means[channel], mean, 1e-5);
    EXPECT_NEAR(variances[channel], (squares - 144 * mean * mean) / 143, 1e-4);
  }
}

TEST(TorchStatistics, ModelsWithoutBatchNormHaveNoStatistics) {
  EXPECT_EQ(std::make_unique<TorchLearner>(options_for("mlp", kCifar))->statistics(),
            Statistics::kNone);
}

}  // namespace
}  // namespace fast
