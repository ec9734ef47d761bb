#include "adapters/torch/models/linear.h"

#include <torch/nn/modules/linear.h>

namespace fast {
namespace {

class Linear final : public Model {
 public:
  explicit Linear(const ImageShape& shape)
      : fc_(register_module(
            "fc", torch::nn::Linear(static_cast<std::int64_t>(shape.pixels()), shape.classes))) {}

  torch::Tensor forward(torch::Tensor images) override { return use(fc_)(images.flatten(1)); }

 private:
  torch::nn::Linear fc_;
};

}  // namespace

std::shared_ptr<Model> make_linear(const ImageShape& shape) {
  return std::make_shared<Linear>(shape);
}

}  // namespace fast
