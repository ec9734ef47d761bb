#include "adapters/torch/models/models.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "adapters/torch/models/linear.h"
#include "adapters/torch/models/mlp.h"
#include "adapters/torch/models/resnet.h"
#include "fast/errors.h"
#include "fast/train/initial_weights.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

/// One model. To add one: a file pair in this folder and a line here.
struct TorchModel {
  std::string_view name;
  std::shared_ptr<Model> (*build)(const ImageShape& shape);
  bool threads_pay = false;  ///< see ModelKind
};

constexpr TorchModel kModels[] = {
    {"linear", make_linear},
    {"mlp", make_mlp},
    {"resnet8", [](const ImageShape& shape) { return make_cifar_resnet(shape, 1); }},
    {"resnet20", [](const ImageShape& shape) { return make_cifar_resnet(shape, 3); }},
    {"resnet18", make_resnet18, true},
};

void draw_all_weights(torch::nn::Module& model, std::uint64_t seed) {
  torch::NoGradGuard no_grad;
  std::uint64_t index = 0;
  for (auto& item : model.named_parameters()) {
    auto& tensor = item.value();
    const auto shape = tensor.sizes();
    draw_weights(seed, index++, item.key(), {shape.data(), shape.size()},
                 {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  }
}

}  // namespace

std::shared_ptr<Model> make_model(std::string_view name, const ImageShape& shape,
                                  std::uint64_t seed) {
  if (shape.classes < 1 || shape.pixels() == 0) {
    throw ConfigError("a model for images of " + std::to_string(shape.pixels()) + " pixels and " +
                          std::to_string(shape.classes) + " classes",
                      "give the shape of a data set");
  }
  stencil::check_choice("model", name, torch_model_names());
  auto model = std::ranges::find(kModels, name, &TorchModel::name)->build(shape);
  draw_all_weights(*model, seed);
  return model;
}

std::vector<std::string_view> torch_model_names() {
  std::vector<std::string_view> names;
  for (const TorchModel& model : kModels) names.push_back(model.name);
  return names;
}

bool threads_pay(std::string_view name) {
  const auto* const model = std::ranges::find(kModels, name, &TorchModel::name);
  return model != std::ranges::end(kModels) && model->threads_pay;
}

}  // namespace fast
