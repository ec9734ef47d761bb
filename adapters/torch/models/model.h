#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <utility>

namespace fast {

/// A batch of inputs in, and of outputs out; for images, NCHW floats in and a row of class scores
/// (logits) for each out.
class Model : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor images) = 0;

  /// `call` hears of each layer before forward() calls it; see TorchAdapter::uses().
  void on_use(std::function<void(const torch::nn::Module&)> call) { on_use_ = std::move(call); }

 protected:
  /// The layer of a holder such as torch::nn::Linear, which is about to be called.
  template <typename Holder>
  Holder& use(Holder& layer) {
    if (on_use_) on_use_(*layer);
    return layer;
  }

 private:
  std::function<void(const torch::nn::Module&)> on_use_;
};

}  // namespace fast
