#include "adapters/torch/models/losses.h"

#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <iterator>

#include "fast/errors.h"
#include "fast/train/losses.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

namespace functional = torch::nn::functional;
using torch::Tensor;

Tensor flat_scores(const Tensor& outputs) {
  return outputs.reshape({-1, outputs.size(-1)});
}

/// A number each, in the shape of the targets: [N, 1] for targets of [N] would be broadcast.
Tensor like(const Tensor& outputs, const Tensor& targets) {
  return outputs.reshape(targets.sizes());
}

constexpr Loss kKinds[] = {
    {"cross_entropy",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::cross_entropy(flat_scores(outputs), targets.flatten());
     },
     [](const Tensor& outputs, const Tensor& targets) {
       return flat_scores(outputs).argmax(1).eq(targets.flatten()).sum().item<double>();
     },
     "a row of scores for each target, classes last"},
    {"mse",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::mse_loss(like(outputs, targets), targets);
     },
     nullptr, "a number for each target"},
    {"l1",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::l1_loss(like(outputs, targets), targets);
     },
     nullptr, "a number for each target"},
    {"bce",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::binary_cross_entropy_with_logits(like(outputs, targets),
                                                           targets.to(torch::kFloat32));
     },
     [](const Tensor& outputs, const Tensor& targets) {
       return like(outputs, targets).gt(0).eq(targets.gt(0.5)).sum().item<double>();
     },
     "a logit for each target"},
};
static_assert(std::size(kKinds) == std::size(kLosses));

std::string sizes(const Tensor& tensor) {
  std::string text;
  for (const std::int64_t side : tensor.sizes()) {
    text += (text.empty() ? "" : ", ") + std::to_string(side);
  }
  return "[" + text + "]";
}

}  // namespace

const Loss& find_loss(std::string_view name, const ExampleSpec& examples) {
  stencil::check_choice("loss", name, kLosses);
  const bool integers = examples.target.type == ValueType::kInt64;
  if (name == "cross_entropy" && !integers) {
    throw ConfigError("loss cross_entropy is for labels, and a target of this data set is " +
                          in_words(examples.target),
                      "use --loss mse, l1 or bce, or save targets as integers");
  }
  if ((name == "mse" || name == "l1") && integers) {
    throw ConfigError("loss " + std::string(name) +
                          " is for numbers, and a target of this data "
                          "set is " +
                          in_words(examples.target),
                      "use --loss cross_entropy, or save targets as floats");
  }
  return *std::ranges::find(kKinds, name, &Loss::name);
}

void check_outputs(const Loss& loss, const Tensor& outputs, const Tensor& targets,
                   const ExampleSpec& examples, const std::string& whose) {
  const bool scores = loss.name == "cross_entropy";
  const std::int64_t last = outputs.dim() > 0 ? outputs.size(-1) : 0;
  const bool fits =
      outputs.is_floating_point() && (scores ? last > 0 && outputs.numel() == targets.numel() * last
                                             : outputs.numel() == targets.numel());
  if (!fits) {
    throw ConfigError(whose + " gives " + sizes(outputs) + " for targets of " + sizes(targets) +
                          ", and loss " + std::string(loss.name) + " needs " +
                          std::string(loss.form),
                      "change the model's last layer, or --loss");
  }
  if (scores && last < examples.classes) {
    throw ConfigError(whose + " tells " + std::to_string(last) +
                          " classes apart, and the data have " + std::to_string(examples.classes),
                      "give it as many outputs as there are classes");
  }
}

}  // namespace fast
