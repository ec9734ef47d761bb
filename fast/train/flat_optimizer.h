#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fast/checkpoint/saved_state.h"
#include "fast/momentum.h"
#include "fast/train/optimizer_options.h"
#include "stencil/core/followers.h"

namespace fast {

/// SGD with momentum, and AdamW, over plain memory: the optimizer of frameworks that bring none of
/// ours, with the updates of torch::optim and of the LibTorch models. A step is given part by part:
///
///     optimizer.begin_step();
///     for (part : model) optimizer.step(part.offset, part.values, part.gradient);
///     optimizer.end_step();
///
/// Its state is two numbers a value at most and belongs into checkpoints: attach it to the adapter
/// (ModelAdapter::attach()). Training thread only.
class FlatOptimizer final : public Resumable {
 public:
  /// For `size` values, whose momentum follows what an exchange moves (fast/momentum.h) as one of
  /// `followers`, those of the adapter. Throws ConfigError for an unknown optimizer.
  FlatOptimizer(const OptimizerOptions& options, stencil::Followers& followers, std::size_t size);

  void set_learning_rate(double rate) { options_.learning_rate = rate; }

  void begin_step();
  /// Takes the step of `values`, those from `first` on in the order of the adapter, along the
  /// negative of `gradient`, which is of the same size. Each value once a step.
  void step(std::size_t first, std::span<float> values, std::span<const float> gradient);
  void end_step();

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;
  void model_replaced() override;

 private:
  void sgd(float* velocity, std::span<float> values, std::span<const float> gradient) const;
  void adamw(float* first, float* second, std::span<float> values,
             std::span<const float> gradient) const;

  OptimizerOptions options_;
  stencil::Followers& followers_;
  std::vector<float> first_, second_;  ///< moments; `second_` is empty for SGD
  FollowingMomentum following_;        ///< of first_, for SGD
  int steps_ = 0;                      ///< AdamW's
};

}  // namespace fast
