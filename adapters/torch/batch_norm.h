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
/// They are gathered when training is over, as the mean over some batches: those of training follow
/// one worker's batches, of whose momentum half is gone by the time that a neighbour averages them.
///
/// One thread. The layers are kept alive.
class BatchNormStatistics {
 public:
  explicit BatchNormStatistics(torch::nn::Module& model);
  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// Training leaves them as they are, from now on.
  void freeze();
  /// Forward passes in training mode, from now on, make them anew: their mean over all batches.
  void begin();
  /// Back to how it was before begin(), with what was gathered. Nothing without one.
  void end();

 private:
  // An optional<double>, of whichever kind this LibTorch has.
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
