#include "adapters/torch/optimizer_state.h"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <memory>
#include <sstream>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "adapters/torch/tensor_types.h"
#include "fast/errors.h"

namespace fast {
namespace {

namespace optim = torch::optim;
using State = optim::OptimizerParamState;

template <typename States>
auto key_of(const States& /*states*/, const torch::Tensor& parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  } else {
    return parameter.unsafeGetTensorImpl();
  }
}

// The fields of each kind of state. A tensor may be undefined: the option that it belongs to is
// not used.
template <typename Visit>
void fields(optim::SGDParamState& state, Visit& visit) {
  visit("momentum_buffer", state.momentum_buffer());
}
template <typename Visit>
void adam_fields(auto& state, Visit& visit) {
  visit("step", state.step());
  visit("exp_avg", state.exp_avg());
  visit("exp_avg_sq", state.exp_avg_sq());
  visit("max_exp_avg_sq", state.max_exp_avg_sq());
}
template <typename Visit>
void fields(optim::AdamParamState& state, Visit& visit) {
  adam_fields(state, visit);
}
template <typename Visit>
void fields(optim::AdamWParamState& state, Visit& visit) {
  adam_fields(state, visit);
}
template <typename Visit>
void fields(optim::AdagradParamState& state, Visit& visit) {
  visit("step", state.step());
  visit("sum", state.sum());
}
template <typename Visit>
void fields(optim::RMSpropParamState& state, Visit& visit) {
  visit("step", state.step());
  visit("square_avg", state.square_avg());
  visit("momentum_buffer", state.momentum_buffer());
  visit("grad_avg", state.grad_avg());
}

template <typename Kind, typename Visit>
bool visit_as(State& state, Visit& visit) {
  auto* const known = dynamic_cast<Kind*>(&state);
  if (known != nullptr) fields(*known, visit);
  return known != nullptr;
}

template <typename Visit>
void visit_fields(State& state, Visit& visit) {
  const bool known = visit_as<optim::SGDParamState>(state, visit) ||
                     visit_as<optim::AdamParamState>(state, visit) ||
                     visit_as<optim::AdamWParamState>(state, visit) ||
                     visit_as<optim::AdagradParamState>(state, visit) ||
                     visit_as<optim::RMSpropParamState>(state, visit);
  if (known) return;
  throw AdapterError(std::string("an optimizer keeps ") + typeid(state).name() +
                         ", which a checkpoint cannot hold",
                     "use SGD, Adam, AdamW, Adagrad or RMSprop of torch::optim");
}

/// The state that the optimizer makes at a parameter's first step; null for an unknown kind.
std::unique_ptr<State> make_state(const optim::Optimizer& optimizer) {
  const auto is = [&](auto* kind) { return dynamic_cast<decltype(kind)>(&optimizer) != nullptr; };
  if (is(static_cast<const optim::SGD*>(nullptr))) return std::make_unique<optim::SGDParamState>();
  if (is(static_cast<const optim::AdamW*>(nullptr)))
    return std::make_unique<optim::AdamWParamState>();
  if (is(static_cast<const optim::Adam*>(nullptr)))
    return std::make_unique<optim::AdamParamState>();
  if (is(static_cast<const optim::Adagrad*>(nullptr)))
    return std::make_unique<optim::AdagradParamState>();
  if (is(static_cast<const optim::RMSprop*>(nullptr)))
    return std::make_unique<optim::RMSpropParamState>();
  return nullptr;
}

void for_each_parameter(optim::Optimizer& optimizer, const ParameterName& name,
                        const std::function<void(torch::Tensor&, const std::string&)>& call) {
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) {
      if (const std::string known = name(parameter); !known.empty()) {
        call(parameter, "optimizer/" + known + "/");
      }
    }
  }
}

/// The name of a group's learning rate in a checkpoint.
std::string rate_of(std::size_t group) {
  return "optimizer group " + std::to_string(group) + "/learning rate";
}

}  // namespace

State* state_of(optim::Optimizer& optimizer, const torch::Tensor& parameter) {
  auto& states = optimizer.state();
  const auto known = states.find(key_of(states, parameter));
  return known == states.end() ? nullptr : known->second.get();
}

void save_tensor(const std::string& name, const torch::Tensor& tensor, StateWriter& to) {
  const torch::Tensor plain = tensor.contiguous();
  const auto shape = plain.sizes();
  to.put(name, dtype_name(name, plain.scalar_type()), {shape.data(), shape.size()},
         {static_cast<const std::byte*>(plain.data_ptr()), plain.nbytes()});
}

void load_tensor(const std::string& name, torch::Tensor& tensor, const StateReader& from) {
  const auto shape = tensor.sizes();
  from.read(name, dtype_name(name, tensor.scalar_type()), {shape.data(), shape.size()},
            {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()});
}

void save_optimizer(optim::Optimizer& optimizer, const ParameterName& name, StateWriter& to) {
  const torch::NoGradGuard no_grad;
  for_each_parameter(optimizer, name, [&](torch::Tensor& parameter, const std::string& prefix) {
    State* const state = state_of(optimizer, parameter);
    if (state == nullptr) return;
    const auto put = [&](const char* field, auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, torch::Tensor>) {
        if (value.defined()) save_tensor(prefix + field, value, to);
      } else {
        to.put(prefix + field, static_cast<std::int64_t>(value));
      }
    };
    visit_fields(*state, put);
  });
  auto& groups = optimizer.param_groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    to.put(rate_of(group), groups[group].options().get_lr());
  }
}

void load_optimizer(optim::Optimizer& optimizer, const ParameterName& name,
                    const StateReader& from) {
  const torch::NoGradGuard no_grad;
  reset_optimizer(optimizer);
  auto& groups = optimizer.param_groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (from.has(rate_of(group)))
      groups[group].options().set_lr(from.value<double>(rate_of(group)));
  }
  for_each_parameter(optimizer, name, [&](torch::Tensor& parameter, const std::string& prefix) {
    std::unique_ptr<State> state = make_state(optimizer);
    if (state == nullptr) return;
    bool any = false;
    const auto get = [&](const char* field, auto& value) {
      if (!from.has(prefix + field)) return;
      any = true;
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, torch::Tensor>) {
        value = torch::empty(parameter.sizes(), parameter.options().requires_grad(false));
        load_tensor(prefix + field, value, from);
      } else {
        value = from.value<std::int64_t>(prefix + field);
      }
    };
    visit_fields(*state, get);
    auto& states = optimizer.state();
    if (any) states[key_of(states, parameter)] = std::move(state);
  });
}

void reset_optimizer(optim::Optimizer& optimizer) {
  // Adagrad makes its states at the start and requires them, so they are reset, not removed.
  if (dynamic_cast<optim::Adagrad*>(&optimizer) == nullptr) return optimizer.state().clear();
  const torch::NoGradGuard no_grad;
  for (auto& group : optimizer.param_groups()) {
    const double initial =
        static_cast<optim::AdagradOptions&>(group.options()).initial_accumulator_value();
    for (auto& parameter : group.params()) {
      auto* const state = static_cast<optim::AdagradParamState*>(state_of(optimizer, parameter));
      if (state == nullptr) continue;
      state->step(0);
      state->sum().fill_(initial);
    }
  }
}

}  // namespace fast
