#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace fast {

/// Takes an optimizer's step for some of its parameters at a time. The optimizer must treat each
/// parameter independently, as all of torch::optim except LBFGS do; then the steps of all parts
/// equal bit for bit the step of the whole. Groups keep their options and parameters their state.
///
/// One thread. The optimizer must outlive it and keep its groups and parameters.
class OptimizerParts {
 public:
  /// `parts` divides the optimizer's parameters; each is in one part.
  OptimizerParts(torch::optim::Optimizer& optimizer,
                 const std::vector<std::vector<torch::Tensor>>& parts);

  /// Calls `step` while the optimizer has only the parameters of part `i`.
  void with(std::size_t i, const std::function<void()>& step);

 private:
  torch::optim::Optimizer& optimizer_;
  std::vector<std::vector<std::vector<torch::Tensor>>> parts_;  ///< part, group, parameter
};

}  // namespace fast
