#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace fast {

/// The running statistics of a model's BatchNorm layers (1d, 2d, 3d), where they are exchanged.
/// They are gathered when training is over, as the mean over some batches. The running statistics
/// of training would follow one worker's own batches and change again before a neighbour has
/// averaged them.
///
/// One thread. Keeps the layers alive.
class BatchNormStatistics {
 public:
  explicit BatchNormStatistics(torch::nn::Module& model);
  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// From now on training does not change the statistics.
  void freeze();
  /// From now on forward passes in training mode gather them anew, as the mean over all batches.
  void begin();
  /// Restores the state before begin(), with the gathered statistics. Does nothing without begin().
  void end();

 private:
  // The optional<double> of this version of LibTorch.
  using Momentum = std::decay_t<decltype(std::declval<torch::nn::BatchNormOptions>().momentum())>;
  struct Layer {
    torch::nn::BatchNormOptions* options;
    std::function<void()> reset;  ///< holds the layer
    Momentum before{};            ///< while statistics are gathered
  };
  template <typename Norm>
  void add(const std::shared_ptr<torch::nn::Module>& module);

  std::vector<Layer> layers_;
  bool gathering_ = false;
};

}  // namespace fast
