#include "adapters/torch/models/models.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "adapters/torch/models/gpt.h"
#include "adapters/torch/models/linear.h"
#include "adapters/torch/models/mlp.h"
#include "adapters/torch/models/resnet.h"
#include "adapters/torch/models/script.h"
#include "fast/errors.h"
#include "fast/train/initial_weights.h"
#include "fast/train/learner.h"
#include "fast/train/losses.h"
#include "fast/train/models.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

struct TorchModel {
  std::string_view name;
  std::shared_ptr<Model> (*build)(const ImageShape& shape);
  bool threads_pay = false;  ///< see ModelKind
};

/// A model for images. To add one: a file pair in this folder and a line here.
constexpr TorchModel kModels[] = {
    {"linear", make_linear},
    {"mlp", make_mlp},
    {"resnet8", [](const ImageShape& shape) { return make_cifar_resnet(shape, 1); }},
    {"resnet20", [](const ImageShape& shape) { return make_cifar_resnet(shape, 3); }},
    {"resnet18", make_resnet18, true},
};

/// A kind of model for examples of other forms; the same.
struct OtherModel {
  std::string_view form;  ///< see ModelKind::name
  std::shared_ptr<Model> (*make)(const LearnerOptions& options);
};

constexpr OtherModel kOthers[] = {
    {"gpt:LAYERS,HEADS,WIDTH", make_gpt},
    {"script:FILE",
     [](const LearnerOptions& options) {
       return load_script(std::string(script_file(options.model)), options.examples, options.loss);
     }},
};

const OtherModel* other_model(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kOthers, [name](const OtherModel& kind) { return is_of_kind(name, kind.form); });
  return found == std::end(kOthers) ? nullptr : found;
}

/// What models for images are made for: as many outputs as there are classes or, for a loss of
/// numbers, as a target has.
ImageShape images_for(const LearnerOptions& options) {
  const bool own = !script_file(options.loss).empty();
  if (own && options.examples.has_labels()) return image_shape(options.examples, options.model);
  if (!own && options.loss == kLosses[0]) return labelled_images(options);
  ExampleSpec examples = options.examples;
  examples.classes = static_cast<int>(examples.target.values());
  examples.target.shape.clear();
  return image_shape(examples, options.model);
}

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

std::shared_ptr<Model> make_model(const LearnerOptions& options) {
  if (const OtherModel* const other = other_model(options.model)) return other->make(options);
  return make_model(options.model, images_for(options), options.seed);
}

LearnerOptions as_taken(LearnerOptions options) {
  if (other_model(options.model) != nullptr) return options;
  options.examples.input = ExampleSpec(images_for(options)).input;
  return options;
}

std::vector<std::string_view> torch_model_forms() {
  std::vector<std::string_view> forms = torch_model_names();
  for (const OtherModel& kind : kOthers) forms.push_back(kind.form);
  return forms;
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
