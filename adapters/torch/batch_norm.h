#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace fast {

/// Gathers the running statistics of a model's BatchNorm layers (1d, 2d, 3d) anew, as the mean over
/// some batches. Those of training follow the last batches, and the weights of some steps ago.
///
/// One thread. Keeps the layers alive.
class BatchNormStatistics {
 public:
  explicit BatchNormStatistics(torch::nn::Module& model);
  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// From now on each forward pass in training mode is taken in, and the statistics are the mean
  /// over all since then.
  void begin();
  /// Training goes on: each pass counts as it did before begin(). Does nothing without begin().
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
