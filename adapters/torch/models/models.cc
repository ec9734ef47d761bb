#include "adapters/torch/models/models.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "adapters/torch/models/linear.h"
#include "adapters/torch/models/mlp.h"
#include "adapters/torch/models/resnet.h"
#include "fast/errors.h"
#include "stencil/core/random.h"
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

// Gaussian weights of variance 2 / inputs (He et al. 2015, "Delving deep into rectifiers"), of
// 1 / inputs for the classifier, which no rectifier follows; normalisation starts as the identity.
// Each tensor has its own stream, so that a change to one layer does not move the others.
void draw_weights(torch::nn::Module& model, std::uint64_t seed) {
  torch::NoGradGuard no_grad;
  std::uint64_t stream = 0;
  for (auto& item : model.named_parameters()) {
    auto& tensor = item.value();
    if (tensor.dim() < 2) {
      tensor.fill_(item.key().ends_with("bias") ? 0 : 1);
    } else {
      const double gain = item.key() == "fc.weight" ? 1 : 2;
      const auto inputs = static_cast<double>(tensor.numel() / tensor.size(0));
      const double deviation = std::sqrt(gain / inputs);
      stencil::Random random(stencil::Random::derive(seed, stream));
      auto* values = tensor.data_ptr<float>();
      for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        values[i] = static_cast<float>(random.normal() * deviation);
      }
    }
    ++stream;
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
  draw_weights(*model, seed);
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
