#include "adapters/flat/models/flat_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/errors.h"
#include "fast/train/flat_optimizer.h"
#include "fast/train/initial_weights.h"

namespace fast {
namespace {

// Sixteen partial sums, so that the compiler can vectorise without relaxed floating-point rules.
float dot(const float* a, const float* b, std::size_t size) {
  std::array<float, 16> sums{};
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) sums[k] += a[i + k] * b[i + k];
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  for (; i < size; ++i) total += a[i] * b[i];
  return total;
}

class FlatLearner final : public Learner {
 public:
  FlatLearner(const LearnerOptions& options, const ImageShape& shape)
      : pixels_(shape.pixels()),
        classes_(static_cast<std::size_t>(shape.classes)),
        values_(classes_ * (pixels_ + 1)),
        gradient_(values_.size()),
        scores_(classes_),
        adapter_(values_, {{"fc.weight", {signed_size(classes_), signed_size(pixels_)}},
                           {"fc.bias", {signed_size(classes_)}}}),
        optimizer_(options.optimizer, adapter_.followers(), values_.size()) {
    adapter_.attach(optimizer_);
    std::uint64_t index = 0;
    for (const ParameterSlot& slot : adapter_.parameters()) {
      draw_weights(options.seed, index++, slot.name, slot.shape,
                   std::span(values_).subspan(slot.offset, slot.size));
    }
  }

  ModelAdapter& adapter() override { return adapter_; }
  void set_learning_rate(double rate) override { optimizer_.set_learning_rate(rate); }

  StepResult train_step(const Batch& batch) override {
    std::ranges::fill(gradient_, 0.0F);
    const StepResult result = forward(batch, /*with_gradient=*/true);
    if (!std::isfinite(result.loss)) return result;
    optimizer_.begin_step();
    optimizer_.step(0, adapter_.values(), gradient_);
    optimizer_.end_step();
    return result;
  }

  StepResult evaluate(const Batch& batch) override {
    return forward(batch, /*with_gradient=*/false);
  }

  Statistics statistics() const override { return Statistics::kNone; }
  void begin_statistics() override {}
  void accumulate_statistics(const Batch&) override {}

 private:
  static std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

  StepResult forward(const Batch& batch, bool with_gradient) {
    StepResult result;
    const auto count = batch.size;
    for (std::size_t n = 0; n < count; ++n) {
      const float* image = batch.images().data() + n * pixels_;
      const auto label = static_cast<std::size_t>(batch.labels()[n]);
      score(image);
      const auto best = std::ranges::max_element(scores_);
      result.correct += static_cast<std::size_t>(best - scores_.begin()) == label ? 1 : 0;
      const float highest = *best;
      double sum = 0;
      for (const float s : scores_) sum += std::exp(static_cast<double>(s - highest));
      result.loss += std::log(sum) - (scores_[label] - highest);
      if (with_gradient) add_gradient(image, label, highest, sum, count);
    }
    // max_element does not see NaN, so an infinite or undefined score is detected in the sum.
    result.loss = count == 0 ? 0 : result.loss / static_cast<double>(count);
    return result;
  }

  void score(const float* image) {
    const float* bias = values_.data() + classes_ * pixels_;
    for (std::size_t c = 0; c < classes_; ++c) {
      scores_[c] = bias[c] + dot(values_.data() + c * pixels_, image, pixels_);
    }
  }

  // Adds the gradient of the mean cross entropy: (softmax - one_hot) / count, times the input.
  void add_gradient(const float* image, std::size_t label, float highest, double sum,
                    std::size_t count) {
    float* bias = gradient_.data() + classes_ * pixels_;
    for (std::size_t c = 0; c < classes_; ++c) {
      const double share = std::exp(static_cast<double>(scores_[c] - highest)) / sum;
      const auto error =
          static_cast<float>((share - (c == label ? 1 : 0)) / static_cast<double>(count));
      bias[c] += error;
      float* row = gradient_.data() + c * pixels_;
      for (std::size_t i = 0; i < pixels_; ++i) row[i] += error * image[i];
    }
  }

  std::size_t pixels_, classes_;
  std::vector<float> values_, gradient_, scores_;
  FlatAdapter adapter_;
  FlatOptimizer optimizer_;
};

}  // namespace

std::unique_ptr<Learner> make_flat_learner(const LearnerOptions& options) {
  if (options.model != "linear") {
    throw ConfigError("model '" + options.model + "' needs LibTorch",
                      "use --model linear, or build with -DFAST_WITH_TORCH=ON");
  }
  check_no_patterns(options);
  return std::make_unique<FlatLearner>(options, labelled_images(options));
}

std::vector<ModelKind> flat_models() {
  return {{"linear", make_flat_learner}};
}

}  // namespace fast
