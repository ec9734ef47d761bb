#include "fast/train/flat_optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fast/errors.h"

namespace fast {

FlatOptimizer::FlatOptimizer(const OptimizerOptions& options, stencil::Followers& followers,
                             std::size_t size)
    : options_(options),
      followers_(followers),
      first_(size),
      second_(options.name == "adamw" ? size : 0) {
  if (options.name != "sgd" && options.name != "adamw") {
    throw ConfigError("unknown optimizer '" + options.name + "'", "use sgd or adamw");
  }
}

void FlatOptimizer::begin_step() {
  if (!second_.empty()) ++steps_;
}

void FlatOptimizer::step(std::size_t first, std::span<float> values,
                         std::span<const float> gradient) {
  if (second_.empty()) {
    sgd(first_.data() + first, values, gradient);
  } else {
    adamw(first_.data() + first, second_.data() + first, values, gradient);
  }
}

void FlatOptimizer::end_step() {
  if (!second_.empty() || options_.momentum_correction == 0 || options_.momentum == 0) return;
  following_.stepped(followers_.of(0, first_.size()), stencil::ElementType::kF32, first_.data(),
                     {.rate = options_.learning_rate,
                      .decay = options_.momentum,
                      .share = options_.momentum_correction});
}

// Velocity as in PyTorch: v = momentum * v + g, x -= rate * v (Sutskever et al. 2013 put the rate
// inside v).
void FlatOptimizer::sgd(float* velocity, std::span<float> values,
                        std::span<const float> gradient) const {
  const auto rate = static_cast<float>(options_.learning_rate);
  const auto momentum = static_cast<float>(options_.momentum);
  const auto decay = static_cast<float>(options_.weight_decay);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float slope = gradient[i] + decay * values[i];
    velocity[i] = momentum * velocity[i] + slope;
    values[i] -= rate * (options_.nesterov ? slope + momentum * velocity[i] : velocity[i]);
  }
}

// Loshchilov and Hutter 2019, with PyTorch's constants.
void FlatOptimizer::adamw(float* first, float* second, std::span<float> values,
                          std::span<const float> gradient) const {
  constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
  const auto keep = static_cast<float>(1 - options_.learning_rate * options_.weight_decay);
  const auto rate = static_cast<float>(options_.learning_rate / (1 - std::pow(0.9, steps_)));
  const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(0.999, steps_)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    first[i] = kBeta1 * first[i] + (1 - kBeta1) * gradient[i];
    second[i] = kBeta2 * second[i] + (1 - kBeta2) * gradient[i] * gradient[i];
    values[i] = keep * values[i] - rate * first[i] / (std::sqrt(second[i]) * scale + kEpsilon);
  }
}

void FlatOptimizer::save(StateWriter& to) {
  to.put("optimizer/first", std::span<const float>(first_));
  to.put("optimizer/second", std::span<const float>(second_));
  to.put("optimizer/following", std::span<const double>(following_.state()));
  to.put("optimizer/steps", static_cast<std::int64_t>(steps_));
}

void FlatOptimizer::load(const StateReader& from) {
  from.read("optimizer/first", std::span(first_));
  from.read("optimizer/second", std::span(second_));
  std::array<double, 3> following{};
  from.read("optimizer/following", std::span<double>(following));
  following_.set_state(following);
  steps_ = static_cast<int>(from.value<std::int64_t>("optimizer/steps"));
}

void FlatOptimizer::model_replaced() {
  std::ranges::fill(first_, 0.0F);
  std::ranges::fill(second_, 0.0F);
  followers_.clear();
  following_ = {};
  steps_ = 0;
}

}  // namespace fast
