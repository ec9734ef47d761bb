#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <functional>
#include <string>

#include "fast/checkpoint/saved_state.h"

namespace fast {

/// The optimizer's state of `parameter`; null before its first step. (LibTorch before 2.1 finds
/// states by the parameter's address as text.)
[[nodiscard]] torch::optim::OptimizerParamState* state_of(torch::optim::Optimizer& optimizer,
                                                          const torch::Tensor& parameter);

/// Returns the name under which a parameter's state is saved; empty where it is not saved.
using ParameterName = std::function<std::string(const torch::Tensor& parameter)>;

/// Saves the state of each parameter of an optimizer of torch::optim, SGD, Adam, AdamW, Adagrad or
/// RMSprop, and the groups' learning rates. Throws AdapterError, naming the state's type, for
/// another optimizer.
void save_optimizer(torch::optim::Optimizer& optimizer, const ParameterName& name, StateWriter& to);

/// Restores the state into an optimizer of the same kind and parameters. Throws FileError.
void load_optimizer(torch::optim::Optimizer& optimizer, const ParameterName& name,
                    const StateReader& from);

/// Discards the state of past steps.
void reset_optimizer(torch::optim::Optimizer& optimizer);

void save_tensor(const std::string& name, const torch::Tensor& tensor, StateWriter& to);
/// Reads into the memory of `tensor`, which is contiguous. Throws FileError.
void load_tensor(const std::string& name, torch::Tensor& tensor, const StateReader& from);

}  // namespace fast
