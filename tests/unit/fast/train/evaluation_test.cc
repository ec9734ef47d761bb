#include "fast/train/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace fast {
namespace {

/// Is wrong by the same at each batch.
class AlwaysAlike final : public Learner {
 public:
  explicit AlwaysAlike(StepResult each) : each_(each) {}
  ModelAdapter& adapter() override { throw std::logic_error("no model"); }
  void set_learning_rate(double /*rate*/) override {}
  StepResult train_step(const Batch& /*batch*/) override { return each_; }
  StepResult evaluate(const Batch& batch) override {
    StepResult result = each_;
    result.correct *= static_cast<double>(batch.size);
    return result;
  }
  [[nodiscard]] Statistics statistics() const override { return Statistics::kNone; }
  void begin_statistics() override {}
  void accumulate_statistics(const Batch& /*batch*/) override {}

 private:
  StepResult each_;
};

/// Rows of integers.
struct Rows final : ExampleSet {
  [[nodiscard]] std::size_t size() const override { return 250; }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    return std::vector<std::uint32_t>(size());
  }
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  void write(std::size_t /*first*/, std::size_t /*count*/, stencil::Random* /*random*/,
             const ValuesOut& /*inputs*/, const ValuesOut& /*targets*/) const override {}
};

Dataset rows(int classes, ValueType type) {
  Dataset data;
  data.spec.input = {ValueType::kInt64, {4}};
  data.spec.target = {type, {4}};
  data.spec.classes = classes;
  data.train = data.test = std::make_shared<Rows>();
  return data;
}

TEST(Evaluation, OfTokensThePerplexityIsTold) {
  AlwaysAlike learner({.loss = 2, .correct = 0.25});
  const TestResult result = test(learner, rows(256, ValueType::kInt64));
  EXPECT_EQ(result.measure.name, "perplexity");
  EXPECT_NEAR(result.measure.value.value(), std::exp(2), 1e-9);
  EXPECT_EQ(in_words(result), "test accuracy 25.000000 %, perplexity 7.389");
}

TEST(Evaluation, OfNumbersTheMeanDistanceIsTold) {
  AlwaysAlike learner(
      {.loss = 0.5, .correct = std::numeric_limits<double>::quiet_NaN(), .distance = 0.25});
  const TestResult result = test(learner, rows(0, ValueType::kFloat32));
  EXPECT_EQ(result.measure.name, "mean absolute error");
  EXPECT_NEAR(result.measure.value.value(), 0.25, 1e-9);
  EXPECT_EQ(in_words(result), "test loss 0.5, mean absolute error 0.25");
}

TEST(Evaluation, OfLabelsNothingMoreIsTold) {
  AlwaysAlike learner({.loss = 2, .correct = 0.25});
  Dataset data = rows(4, ValueType::kInt64);
  data.spec.target.shape.clear();
  const TestResult result = test(learner, data);
  EXPECT_FALSE(result.measure.value);
  EXPECT_EQ(in_words(result), "test accuracy 25.000000 %");
}

}  // namespace
}  // namespace fast
