#include "adapters/torch/momentum_correction.h"

#include <torch/utils.h>

#include <algorithm>
#include <string>

#include "fast/train/optimizer_options.h"

namespace fast {

void MomentumCorrection::before_step() {
  if (left_.empty()) return;
  const torch::NoGradGuard no_grad;
  auto left = left_.begin();
  for (auto& group : optimizer_.param_groups()) {
    const double lasting = static_cast<torch::optim::SGDOptions&>(group.options()).momentum();
    for (auto& parameter : group.params()) {
      Left& last = *left++;
      const torch::Tensor& moved = last.values.sub_(parameter);  // the other way round
      const double share = moved.count_nonzero().item<double>() / moved.numel();
      last.often = lasting * last.often + (1 - lasting) * share;
      if (last.rate <= kLeastCorrectedRate * last.highest) continue;
      const auto known =
          optimizer_.state().find(c10::guts::to_string(parameter.unsafeGetTensorImpl()));
      if (known == optimizer_.state().end()) continue;
      auto& momentum = static_cast<torch::optim::SGDParamState&>(*known->second).momentum_buffer();
      if (momentum.defined()) momentum.add_(moved, share_ * last.often / last.rate);
    }
  }
}

void MomentumCorrection::after_step() {
  const torch::NoGradGuard no_grad;
  std::size_t index = 0;
  for (auto& group : optimizer_.param_groups()) {
    const double rate = group.options().get_lr();
    for (const auto& parameter : group.params()) {
      if (index == left_.size()) left_.push_back({.values = torch::empty_like(parameter)});
      Left& left = left_[index++];
      left.values.copy_(parameter);
      left.rate = rate;
      left.highest = std::max(left.highest, rate);
    }
  }
}

}  // namespace fast
