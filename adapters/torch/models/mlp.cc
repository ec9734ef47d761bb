#include "adapters/torch/models/mlp.h"

#include <torch/nn/modules/linear.h>

namespace fast {
namespace {

class Mlp final : public Model {
 public:
  explicit Mlp(const ImageShape& shape)
      : first_(register_module("hidden1",
                               torch::nn::Linear(static_cast<std::int64_t>(shape.pixels()), 256))),
        second_(register_module("hidden2", torch::nn::Linear(256, 128))),
        fc_(register_module("fc", torch::nn::Linear(128, shape.classes))) {}

  torch::Tensor forward(torch::Tensor images) override {
    const auto first = use(first_)(images.flatten(1)).relu_();
    const auto second = use(second_)(first).relu_();
    return use(fc_)(second);
  }

 private:
  torch::nn::Linear first_, second_, fc_;
};

}  // namespace

std::shared_ptr<Model> make_mlp(const ImageShape& shape) {
  return std::make_shared<Mlp>(shape);
}

}  // namespace fast
