#pragma once

#include <torch/types.h>

#include <string>

namespace fast {

/// What safetensors calls a tensor's type. Throws AdapterError, naming the tensor, where it has no
/// such type.
[[nodiscard]] std::string dtype_name(const std::string& name, torch::ScalarType type);

}  // namespace fast
