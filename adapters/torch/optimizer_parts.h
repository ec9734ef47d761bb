#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace fast {

/// An optimizer whose step is made for some of its parameters at a time. It must be one that treats
/// each parameter by itself, as all of torch::optim do but LBFGS; then the steps of all parts are
/// that of the whole, to the bit. Groups keep their options and parameters their state.
///
/// One thread. The optimizer must outlive it and keep its groups and parameters.
class OptimizerParts {
 public:
  /// `parts` are of the optimizer's parameters, each in one part.
  OptimizerParts(torch::optim::Optimizer& optimizer,
                 const std::vector<std::vector<torch::Tensor>>& parts);

  /// Calls `step` while the optimizer has the parameters of part `i` alone.
  void with(std::size_t i, const std::function<void()>& step);

 private:
  torch::optim::Optimizer& optimizer_;
  std::vector<std::vector<std::vector<torch::Tensor>>> parts_;  ///< part, group, parameter
};

}  // namespace fast
