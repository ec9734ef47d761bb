#include "adapters/torch/momentum_correction.h"

#include <array>
#include <string>

#include "stencil/core/error.h"

namespace fast {
namespace {

/// Null before the parameter's first step, and where the optimizer keeps no momentum of it.
torch::optim::SGDParamState* with_momentum(torch::optim::SGD& optimizer,
                                           const torch::Tensor& parameter) {
  auto* const state = static_cast<torch::optim::SGDParamState*>(state_of(optimizer, parameter));
  return state != nullptr && state->momentum_buffer().defined() ? state : nullptr;
}

/// The momentum in the order in memory of its parameter, as the optimizer goes on with it.
torch::Tensor in_order(torch::optim::SGDParamState& state, const torch::Tensor& parameter) {
  const torch::Tensor& momentum = state.momentum_buffer();
  if (momentum.strides() == parameter.strides()) return momentum;
  torch::Tensor ordered =
      torch::empty_strided(parameter.sizes(), parameter.strides(), momentum.options());
  ordered.copy_(momentum);
  state.momentum_buffer(ordered);
  return ordered;
}

stencil::ElementType type_of(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return stencil::ElementType::kF32;
    case torch::kFloat64:
      return stencil::ElementType::kF64;
    case torch::kFloat16:
      return stencil::ElementType::kF16;
    case torch::kBFloat16:
      return stencil::ElementType::kBF16;
    default:
      throw stencil::InvariantError("MomentumCorrection: momentum of another type");
  }
}

/// "momentum_correction/NAME"
std::string saved_name(const std::string& parameter) {
  return "momentum_correction/" + parameter;
}

}  // namespace

void MomentumCorrection::after_step() {
  const torch::NoGradGuard no_grad;
  for (auto& group : optimizer_.param_groups()) {
    const auto& options = static_cast<torch::optim::SGDOptions&>(group.options());
    const FollowingMomentum::Step step{
        .rate = options.lr(), .decay = options.momentum(), .share = share_};
    for (const auto& parameter : group.params()) {
      if (!parameter.requires_grad() || parameter.numel() == 0) continue;
      auto* const state = with_momentum(optimizer_, parameter);
      if (state == nullptr) continue;
      Followed& followed = followed_[parameter.unsafeGetTensorImpl()];
      followed.momentum = in_order(*state, parameter);
      followed.following.stepped(
          adapter_.followers().of(adapter_.offset_of(parameter),
                                  static_cast<std::size_t>(parameter.numel())),
          type_of(followed.momentum), followed.momentum.data_ptr(), step);
    }
  }
}

void MomentumCorrection::model_replaced() {
  adapter_.followers().clear();
  followed_.clear();
}

void MomentumCorrection::save(const ParameterName& name, StateWriter& to) {
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      const auto found = followed_.find(parameter.unsafeGetTensorImpl());
      if (found == followed_.end()) continue;
      to.put(saved_name(name(parameter)), std::span<const double>(found->second.following.state()));
    }
  }
}

void MomentumCorrection::load(const ParameterName& name, const StateReader& from) {
  model_replaced();
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      const std::string known = saved_name(name(parameter));
      if (!from.has(known)) continue;
      std::array<double, 3> state{};
      from.read(known, std::span<double>(state));
      followed_[parameter.unsafeGetTensorImpl()].following.set_state(state);
    }
  }
}

}  // namespace fast
