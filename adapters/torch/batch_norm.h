#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <array>
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
/// A neighbour that ends earlier averages its statistics with ours before ours are gathered. So
/// each worker adds what it gathers to what the exchange has moved, and the mean over workers is
/// kept. Until all agree a variance may then be negative: see mend().
///
/// One thread. Keeps the layers alive.
class BatchNormStatistics {
 public:
  explicit BatchNormStatistics(torch::nn::Module& model);
  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// From now on training does not change the statistics, only the exchange does.
  void freeze();
  /// A step of training begins. What changes frozen statistics after the first one is the exchange.
  void train();
  /// The model was replaced by a neighbour's.
  void replaced();
  /// From now on gather() gathers them anew, as the mean over all batches.
  void begin();
  /// Takes in one forward pass in training mode. Requires begin().
  void gather(const std::function<void()>& forward);
  /// Restores the state before begin(), with the gathered statistics. Does nothing without begin().
  void end();
  /// Training is over, and all have agreed or this worker was cut off. A variance that is then not
  /// above 0 becomes the one that this worker gathered.
  void mend();

 private:
  // The optional<double> of this version of LibTorch.
  using Momentum = std::decay_t<decltype(std::declval<torch::nn::BatchNormOptions>().momentum())>;
  struct Layer {
    torch::nn::BatchNormOptions* options;
    std::function<void()> reset;                           ///< holds the layer
    std::function<std::array<torch::Tensor, 2>()> values;  ///< the mean and the variance
    Momentum before{};                                     ///< while statistics are gathered
    std::array<torch::Tensor, 2> own{};    ///< the part of values() that is this worker's
    std::array<torch::Tensor, 2> moved{};  ///< the part that is the exchange's
  };
  void note_own();
  template <typename Norm>
  void add(const std::shared_ptr<torch::nn::Module>& module);

  std::vector<Layer> layers_;
  bool gathering_ = false;
  bool frozen_ = false;
  bool exchanged_ = false;  ///< `own` and `moved` are known
};

}  // namespace fast
