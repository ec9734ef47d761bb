#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/torch_adapter.h"
#include "tests/contract/adapter/adapter_contract.h"

namespace fast::testing {
namespace {

/// A model of some tensors, read and written by LibTorch's own means.
class Tensors : public AttachedModel {
 public:
  explicit Tensors(std::vector<RegisteredTensor> tensors)
      : tensors_(std::move(tensors)), adapter_(tensors_) {}
  ModelAdapter& adapter() override { return adapter_; }
  std::vector<double> read() override {
    std::vector<double> values;
    for (const RegisteredTensor& one : tensors_) {
      if (!one.exchanged) continue;
      const torch::Tensor flat = one.tensor.detach().to(torch::kFloat64).contiguous().view(-1);
      values.insert(values.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return values;
  }
  void write(std::span<const double> values) override {
    const torch::NoGradGuard no_grad;
    const double* next = values.data();
    for (RegisteredTensor& one : tensors_) {
      if (!one.exchanged) continue;
      const torch::Tensor from =
          torch::tensor(std::vector<double>(next, next + one.tensor.numel()), torch::kFloat64);
      one.tensor.copy_(from.view(one.tensor.sizes()));
      next += one.tensor.numel();
    }
  }

 private:
  std::vector<RegisteredTensor> tensors_;
  TorchAdapter adapter_;
};

/// A module that keeps its tensors alive while the case lives.
std::unique_ptr<AttachedModel> module(torch::ScalarType type) {
  namespace nn = torch::nn;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).bias(false)), nn::BatchNorm2d(4),
                     nn::Linear(5, 7));
  net->to(type);
  return std::make_unique<Tensors>(registered_tensors(*net));
}

torch::Tensor leaf(std::vector<std::int64_t> shape, torch::ScalarType type) {
  return torch::zeros(shape, type).requires_grad_();
}

/// Tensors of every type, one of them a transposed view of its memory, one frozen.
std::unique_ptr<AttachedModel> named() {
  std::vector<RegisteredTensor> tensors = {
      {"single", leaf({4, 5}, torch::kFloat32), true},
      {"double", leaf({30}, torch::kFloat64), true},
      {"scalar", leaf({}, torch::kFloat16), true},
      {"turned", torch::zeros({6, 3}, torch::kBFloat16).t().requires_grad_(), true},
      {"empty", leaf({0}, torch::kBFloat16), true},
      {"frozen", torch::ones({3}, torch::kInt64), false},
      {"last", leaf({2, 2}, torch::kFloat32), true}};
  return std::make_unique<Tensors>(std::move(tensors));
}

AdapterCase module_of(std::string name, torch::ScalarType type) {
  return {std::move(name), [type] { return module(type); }};
}

INSTANTIATE_TEST_SUITE_P(Torch, AdapterContract,
                         ::testing::Values(module_of("f32", torch::kFloat32),
                                           module_of("f64", torch::kFloat64),
                                           module_of("f16", torch::kFloat16),
                                           module_of("bf16", torch::kBFloat16),
                                           AdapterCase{"named_tensors", named}),
                         case_name);

}  // namespace
}  // namespace fast::testing
