#include "adapters/torch/momentum_correction.h"

#include <torch/utils.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>

#include "fast/train/optimizer_options.h"

namespace fast {
namespace {

using torch::optim::SGD;

/// LibTorch before 2.1 finds an optimizer's states by the parameter's address as text.
template <typename States>
auto find_state(States& states, c10::TensorImpl* parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    std::ostringstream text;
    text << parameter;
    return states.find(text.str());
  } else {
    return states.find(parameter);
  }
}

/// Null before the parameter's first step.
torch::optim::SGDParamState* state_of(SGD& optimizer, const torch::Tensor& parameter) {
  auto& states = optimizer.state();
  const auto known = find_state(states, parameter.unsafeGetTensorImpl());
  if (known == states.end()) return nullptr;
  return static_cast<torch::optim::SGDParamState*>(known->second.get());
}

}  // namespace

void MomentumCorrection::before_step() {
  if (left_.empty()) return;
  const torch::NoGradGuard no_grad;
  for (auto& group : optimizer_.param_groups()) {
    const double lasting = static_cast<torch::optim::SGDOptions&>(group.options()).momentum();
    for (auto& parameter : group.params()) {
      const auto found = left_.find(parameter.unsafeGetTensorImpl());
      if (found == left_.end()) continue;
      Left& last = found->second;
      const torch::Tensor& moved = last.values.sub_(parameter);  // the other way round
      const double share = moved.count_nonzero().item<double>() / moved.numel();
      last.often = lasting * last.often + (1 - lasting) * share;
      if (last.rate <= kLeastCorrectedRate * last.highest) continue;
      auto* const state = state_of(optimizer_, parameter);
      if (state == nullptr || !state->momentum_buffer().defined()) continue;
      state->momentum_buffer().add_(moved, share_ * last.often / last.rate);
    }
  }
}

void MomentumCorrection::after_step() {
  const torch::NoGradGuard no_grad;
  for (auto& group : optimizer_.param_groups()) {
    const double rate = group.options().get_lr();
    for (const auto& parameter : group.params()) {
      if (!parameter.requires_grad()) continue;
      Left& left = left_[parameter.unsafeGetTensorImpl()];
      if (!left.values.defined()) left.values = torch::empty_like(parameter);
      left.values.copy_(parameter);
      left.rate = rate;
      left.highest = std::max(left.highest, rate);
    }
  }
}

}  // namespace fast
