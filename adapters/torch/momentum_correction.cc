#include "adapters/torch/momentum_correction.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <string>

#include "fast/train/optimizer_options.h"

namespace fast {
namespace {

/// Null before the parameter's first step.
torch::optim::SGDParamState* momentum_of(torch::optim::SGD& optimizer,
                                         const torch::Tensor& parameter) {
  return static_cast<torch::optim::SGDParamState*>(state_of(optimizer, parameter));
}

/// "momentum_correction/NAME"
std::string saved_name(const std::string& parameter) {
  return "momentum_correction/" + parameter;
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
      auto* const state = momentum_of(optimizer_, parameter);
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

void MomentumCorrection::save(const ParameterName& name, StateWriter& to) {
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      const auto found = left_.find(parameter.unsafeGetTensorImpl());
      if (found == left_.end()) continue;
      const Left& left = found->second;
      const std::string known = saved_name(name(parameter));
      save_tensor(known, left.values, to);
      to.put(known + "/scalars",
             std::span<const double>(std::array{left.rate, left.highest, left.often}));
    }
  }
}

void MomentumCorrection::load(const ParameterName& name, const StateReader& from) {
  left_.clear();
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      const std::string known = saved_name(name(parameter));
      if (!from.has(known)) continue;
      Left& left = left_[parameter.unsafeGetTensorImpl()];
      left.values = torch::empty(parameter.sizes(), parameter.options().requires_grad(false));
      load_tensor(known, left.values, from);
      std::array<double, 3> scalars{};
      from.read(known + "/scalars", std::span<double>(scalars));
      left.rate = scalars[0];
      left.highest = scalars[1];
      left.often = scalars[2];
    }
  }
}

}  // namespace fast
