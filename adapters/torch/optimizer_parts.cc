#include "adapters/torch/optimizer_parts.h"

#include <algorithm>
#include <utility>

namespace fast {
namespace {

bool holds(const std::vector<torch::Tensor>& tensors, const torch::Tensor& wanted) {
  return std::ranges::any_of(
      tensors, [&wanted](const torch::Tensor& tensor) { return tensor.is_same(wanted); });
}

}  // namespace

OptimizerParts::OptimizerParts(torch::optim::Optimizer& optimizer,
                               const std::vector<std::vector<torch::Tensor>>& parts)
    : optimizer_(optimizer) {
  for (const auto& part : parts) {
    auto& groups = parts_.emplace_back();
    for (auto& group : optimizer.param_groups()) {
      auto& chosen = groups.emplace_back();
      for (const auto& parameter : part) {
        if (holds(group.params(), parameter)) chosen.push_back(parameter);
      }
    }
  }
}

void OptimizerParts::with(std::size_t i, const std::function<void()>& step) {
  auto& part = parts_[i];
  const auto exchange = [&] {
    for (std::size_t g = 0; g < part.size(); ++g) {
      std::swap(optimizer_.param_groups()[g].params(), part[g]);
    }
  };
  exchange();
  try {
    step();
  } catch (...) {
    exchange();
    throw;
  }
  exchange();
}

}  // namespace fast
