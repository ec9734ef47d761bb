#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <functional>
#include <string>

#include "fast/checkpoint/saved_state.h"

namespace fast {

/// What `optimizer` keeps of `parameter`; null before its first step. (LibTorch before 2.1 finds
/// states by the parameter's address as text.)
[[nodiscard]] torch::optim::OptimizerParamState* state_of(torch::optim::Optimizer& optimizer,
                                                          const torch::Tensor& parameter);

/// Under which a parameter's state is saved; an empty name: it has none to save.
using ParameterName = std::function<std::string(const torch::Tensor& parameter)>;

/// Puts down what an optimizer of torch::optim keeps of each of its parameters: SGD, Adam, AdamW,
/// Adagrad or RMSprop. Throws AdapterError, naming it, for one that keeps something else.
void save_optimizer(torch::optim::Optimizer& optimizer, const ParameterName& name, StateWriter& to);

/// The reverse, for one of the same kind and parameters. Throws FileError.
void load_optimizer(torch::optim::Optimizer& optimizer, const ParameterName& name,
                    const StateReader& from);

/// Forgets its past steps.
void reset_optimizer(torch::optim::Optimizer& optimizer);

void save_tensor(const std::string& name, const torch::Tensor& tensor, StateWriter& to);
/// Into the memory of `tensor`, which is contiguous, of float32 or bytes. Throws FileError.
void load_tensor(const std::string& name, torch::Tensor& tensor, const StateReader& from);

}  // namespace fast
