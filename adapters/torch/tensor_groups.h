#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fast {

/// A registered parameter or buffer of a module. `tensor` is the module's own handle: it survives
/// set_data, torch::load and .to().
struct RegisteredTensor {
  std::string name;
  torch::Tensor tensor;
  bool exchanged = false;
  bool statistics = false;  ///< running statistics of a normalisation, of a floating type
};

/// All defined parameters, then all buffers, under their full names. Exchanged: parameters that
/// require a gradient.
[[nodiscard]] std::vector<RegisteredTensor> registered_tensors(const torch::nn::Module& module);

/// Tensors that lie in the same memory ("tied"). Members are indices into the list of registered
/// tensors, in its order; `first` is the member whose name and shape stand for the group.
struct TensorGroup {
  std::vector<std::size_t> members;
  std::size_t first = 0;
};

/// The groups that hold at least one exchanged tensor, in the order of their first members. Tensors
/// are grouped by address only; names and TensorImpls do not matter. Throws AdapterError, naming
/// the tensor, for an exchanged tensor that is not a dense leaf of floats on the CPU, and for
/// memory that overlaps in part or in another type.
[[nodiscard]] std::vector<TensorGroup> group_by_memory(
    const std::vector<RegisteredTensor>& tensors);

/// Whether the tensor has bytes in this process that can be addressed by strides.
[[nodiscard]] bool is_addressable(const torch::Tensor& tensor);

/// Why `tensor` cannot be exchanged, or an empty string.
[[nodiscard]] std::string why_not_exchangeable(const torch::Tensor& tensor);

}  // namespace fast
