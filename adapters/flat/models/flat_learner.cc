#include "adapters/flat/models/flat_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/errors.h"
#include "fast/momentum.h"
#include "stencil/core/random.h"

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

class Optimizer final : public Resumable {
 public:
  Optimizer(const OptimizerOptions& options, stencil::Followers& followers, std::size_t size)
      : options_(options),
        followers_(followers),
        first_(size),
        second_(options.name == "adamw" ? size : 0) {
    if (options.name != "sgd" && options.name != "adamw") {
      throw ConfigError("unknown optimizer '" + options.name + "'", "use sgd or adamw");
    }
  }

  void set_learning_rate(double rate) { options_.learning_rate = rate; }

  void save(StateWriter& to) override {
    to.put("optimizer/first", std::span<const float>(first_));
    to.put("optimizer/second", std::span<const float>(second_));
    to.put("optimizer/following", std::span<const double>(following_.state()));
    to.put("optimizer/steps", static_cast<std::int64_t>(steps_));
  }
  void load(const StateReader& from) override {
    from.read("optimizer/first", std::span(first_));
    from.read("optimizer/second", std::span(second_));
    std::array<double, 3> following{};
    from.read("optimizer/following", std::span<double>(following));
    following_.set_state(following);
    steps_ = static_cast<int>(from.value<std::int64_t>("optimizer/steps"));
  }
  void model_replaced() override {
    std::ranges::fill(first_, 0.0F);
    std::ranges::fill(second_, 0.0F);
    followers_.clear();
    following_ = {};
    steps_ = 0;
  }

  void step(std::span<float> values, std::span<const float> gradient) {
    if (second_.empty()) {
      sgd(values, gradient);
    } else {
      adamw(values, gradient);
    }
  }

 private:
  // Velocity as in PyTorch: v = momentum * v + g, x -= rate * v (Sutskever et al. 2013 put the rate
  // inside v).
  void sgd(std::span<float> values, std::span<const float> gradient) {
    const auto rate = static_cast<float>(options_.learning_rate);
    const auto momentum = static_cast<float>(options_.momentum);
    const auto decay = static_cast<float>(options_.weight_decay);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float slope = gradient[i] + decay * values[i];
      first_[i] = momentum * first_[i] + slope;
      values[i] -= rate * (options_.nesterov ? slope + momentum * first_[i] : first_[i]);
    }
    if (options_.momentum_correction == 0 || options_.momentum == 0) return;
    following_.stepped(followers_.of(0, first_.size()), stencil::ElementType::kF32, first_.data(),
                       {.rate = options_.learning_rate,
                        .decay = options_.momentum,
                        .share = options_.momentum_correction});
  }

  // Loshchilov and Hutter 2019, with PyTorch's constants.
  void adamw(std::span<float> values, std::span<const float> gradient) {
    constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
    ++steps_;
    const auto keep = static_cast<float>(1 - options_.learning_rate * options_.weight_decay);
    const auto rate = static_cast<float>(options_.learning_rate / (1 - std::pow(0.9, steps_)));
    const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(0.999, steps_)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      first_[i] = kBeta1 * first_[i] + (1 - kBeta1) * gradient[i];
      second_[i] = kBeta2 * second_[i] + (1 - kBeta2) * gradient[i] * gradient[i];
      values[i] = keep * values[i] - rate * first_[i] / (std::sqrt(second_[i]) * scale + kEpsilon);
    }
  }

  OptimizerOptions options_;
  stencil::Followers& followers_;
  std::vector<float> first_, second_;  // moments; `second_` is empty for SGD
  FollowingMomentum following_;        // of first_, for SGD
  int steps_ = 0;
};

class FlatLearner final : public Learner {
 public:
  explicit FlatLearner(const LearnerOptions& options)
      : pixels_(options.shape.pixels()),
        classes_(static_cast<std::size_t>(options.shape.classes)),
        values_(classes_ * (pixels_ + 1)),
        gradient_(values_.size()),
        scores_(classes_),
        adapter_(values_, {{"fc.weight", {signed_size(classes_), signed_size(pixels_)}},
                           {"fc.bias", {signed_size(classes_)}}}),
        optimizer_(options.optimizer, adapter_.followers(), values_.size()) {
    adapter_.attach(optimizer_);
    // Gaussian of variance 1 / inputs; the bias stays zero.
    stencil::Random random(stencil::Random::derive(options.seed, 0));
    const double deviation = std::sqrt(1.0 / static_cast<double>(pixels_));
    for (std::size_t i = 0; i < classes_ * pixels_; ++i) {
      values_[i] = static_cast<float>(random.normal() * deviation);
    }
  }

  ModelAdapter& adapter() override { return adapter_; }
  void set_learning_rate(double rate) override { optimizer_.set_learning_rate(rate); }

  StepResult train_step(const Batch& batch) override {
    std::ranges::fill(gradient_, 0.0F);
    const StepResult result = forward(batch, /*with_gradient=*/true);
    if (std::isfinite(result.loss)) optimizer_.step(adapter_.values(), gradient_);
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
    const auto count = batch.labels.size();
    for (std::size_t n = 0; n < count; ++n) {
      const float* image = batch.images.data() + n * pixels_;
      const auto label = static_cast<std::size_t>(batch.labels[n]);
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
  Optimizer optimizer_;
};

}  // namespace

std::unique_ptr<Learner> make_flat_learner(const LearnerOptions& options) {
  if (options.model != "linear") {
    throw ConfigError("model '" + options.model + "' needs LibTorch",
                      "use --model linear, or build with -DFAST_WITH_TORCH=ON");
  }
  if (options.shape.classes < 1 || options.shape.pixels() == 0) {
    throw ConfigError("a model for images of " + std::to_string(options.shape.pixels()) +
                          " pixels and " + std::to_string(options.shape.classes) + " classes",
                      "give the shape of a data set");
  }
  return std::make_unique<FlatLearner>(options);
}

std::vector<ModelKind> flat_models() {
  return {{"linear", make_flat_learner}};
}

}  // namespace fast
