#include "adapters/torch/models/script.h"

#include <torch/script.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "adapters/torch/models/losses.h"
#include "adapters/torch/models/model.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr char kSave[] = "save one by torch.jit.script(model).save(FILE), on the CPU";

/// Registers the script's parameters and buffers in `to` under their own names: the tensors
/// themselves, so that both have the same memory wherever it is moved.
void mirror(const torch::jit::Module& from, torch::nn::Module& to, const std::string& whose) {
  for (const auto& parameter : from.named_parameters(/*recurse=*/false)) {
    if (!parameter.value.is_floating_point()) {
      throw ConfigError(
          whose + ": parameter " + stencil::in_quotes(parameter.name) + " is of integers",
          "register it as a buffer");
    }
    to.register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
  }
  for (const auto& buffer : from.named_buffers(/*recurse=*/false)) {
    to.register_buffer(buffer.name, buffer.value);
  }
  for (const auto& child : from.named_children()) {
    auto below = std::make_shared<torch::nn::Module>(child.name);
    mirror(child.value, *below, whose);
    to.register_module(child.name, std::move(below));
  }
}

class Script final : public Model {
 public:
  Script(torch::jit::Module script, const std::string& whose) : script_(std::move(script)) {
    mirror(script_, *this, whose);
  }

  torch::Tensor forward(torch::Tensor inputs) override {
    return script_.forward({std::move(inputs)}).toTensor();
  }
  void train(bool on) override {
    Model::train(on);
    script_.train(on);
  }

 private:
  torch::jit::Module script_;
};

bool trains_anything(const torch::nn::Module& model) {
  for (const torch::Tensor& parameter : model.parameters()) {
    if (parameter.requires_grad() && parameter.numel() > 0) return true;
  }
  return false;
}

torch::jit::Module read(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw ConfigError("model script:" + file + ": there is no such file", kSave);
  }
  try {
    return torch::jit::load(file, torch::kCPU);
  } catch (const std::exception& unreadable) {
    throw ConfigError("model script:" + file + " is no TorchScript: " + cause_of(unreadable),
                      kSave);
  }
}

}  // namespace

std::shared_ptr<Model> load_script(const std::string& file, const ExampleSpec& examples,
                                   std::string_view loss) {
  const std::string whose = "model script:" + file;
  auto model = std::make_shared<Script>(read(file), whose);
  if (!trains_anything(*model)) {
    throw ConfigError(whose +
                          " has no parameter that requires a gradient, so that nothing of it "
                          "can be trained",
                      "do not freeze all of it, by torch.jit.freeze() or requires_grad_(False)");
  }
  const Loss kind = find_loss(loss, examples);
  const torch::NoGradGuard no_grad;
  model->train(false);
  torch::Tensor outputs;
  try {
    outputs = model->forward(two_zeros(examples.input));
  } catch (const std::exception& error) {
    throw ConfigError(
        whose + " cannot take two examples of " + in_words(examples.input) + ": " + cause_of(error),
        "its forward is to take one tensor, the batch, and to return one");
  }
  check_outputs(kind, outputs, two_zeros(examples.target), examples, whose);
  return model;
}

}  // namespace fast
