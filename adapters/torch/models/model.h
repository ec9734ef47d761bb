#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

namespace fast {

/// An image classifier: NCHW float images in, one row of class scores (logits) per image out.
class Model : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor images) = 0;
};

}  // namespace fast
