#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

// Debian's libtorch-dev lacks this header, which c10d's reducer.hpp includes for the names of two
// types. Here they are, as LibTorch 1.13 declares them; used only where the real one is not there.
namespace torch::distributed::autograd {

class DistAutogradContext {
 public:
  using GradCallback = std::function<bool(at::Tensor&)>;
};
using ContextPtr = std::shared_ptr<DistAutogradContext>;

}  // namespace torch::distributed::autograd
