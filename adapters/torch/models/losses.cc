#include "adapters/torch/models/losses.h"

#include <torch/nn/functional/loss.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

#include "fast/errors.h"
#include "fast/train/losses.h"
#include "fast/train/models.h"

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

/// A loss that has a name.
struct Kind {
  std::string_view name;
  Tensor (*of)(const Tensor& outputs, const Tensor& targets);
  double (*correct)(const Tensor& outputs, const Tensor& targets);
  bool of_numbers;
  std::string_view form;
};

constexpr Kind kKinds[] = {
    {"cross_entropy",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::cross_entropy(flat_scores(outputs), targets.flatten());
     },
     [](const Tensor& outputs, const Tensor& targets) {
       return flat_scores(outputs).argmax(1).eq(targets.flatten()).sum().item<double>();
     },
     false, "a row of scores for each target, classes last"},
    {"mse",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::mse_loss(like(outputs, targets), targets);
     },
     nullptr, true, "a number for each target"},
    {"l1",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::l1_loss(like(outputs, targets), targets);
     },
     nullptr, true, "a number for each target"},
    {"bce",
     [](const Tensor& outputs, const Tensor& targets) {
       return functional::binary_cross_entropy_with_logits(like(outputs, targets),
                                                           targets.to(torch::kFloat32));
     },
     [](const Tensor& outputs, const Tensor& targets) {
       return like(outputs, targets).gt(0).eq(targets.gt(0.5)).sum().item<double>();
     },
     false, "a logit for each target"},
};
static_assert(std::size(kKinds) == std::size(kLosses));

std::string sizes(const Tensor& tensor) {
  std::string text;
  for (const std::int64_t side : tensor.sizes()) {
    text += (text.empty() ? "" : ", ") + std::to_string(side);
  }
  return "[" + text + "]";
}

constexpr char kSaveLoss[] =
    "save one by torch.jit.script(loss).save(FILE), whose forward(output, target) returns a number";

/// How many targets are right where there is a row of scores for each; else NaN.
double correct_scores(const Tensor& outputs, const Tensor& targets) {
  const bool scores = outputs.dim() > 0 && outputs.size(-1) > 1 &&
                      outputs.numel() == targets.numel() * outputs.size(-1);
  return scores ? kKinds[0].correct(outputs, targets) : std::nan("");
}

Loss own_loss(const std::string& file, const ExampleSpec& examples) {
  const std::string whose = "loss script:" + file;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw ConfigError(whose + ": there is no such file", kSaveLoss);
  }
  std::shared_ptr<torch::jit::Module> script;
  try {
    script = std::make_shared<torch::jit::Module>(torch::jit::load(file, torch::kCPU));
  } catch (const std::exception& unreadable) {
    throw ConfigError(whose + " is no TorchScript: " + cause_of(unreadable), kSaveLoss);
  }
  Loss loss{.name = whose.substr(std::string_view("loss ").size()),
            .of =
                [script](const Tensor& outputs, const Tensor& targets) {
                  return script->forward({outputs, targets}).toTensor();
                },
            .correct = {},
            .of_numbers = examples.target.type == ValueType::kFloat32,
            .form = ""};
  if (examples.classes > 0) loss.correct = correct_scores;
  return loss;
}

/// Throws ConfigError where a loss of the user's own fails for these, or is not one number.
void try_own(const Loss& loss, const Tensor& outputs, const Tensor& targets,
             const std::string& whose) {
  Tensor value;
  try {
    value = loss.of(outputs, targets);
  } catch (const std::exception& error) {
    throw ConfigError("loss " + loss.name + " cannot take " + sizes(outputs) + " of " + whose +
                          " and targets of " + sizes(targets) + ": " + cause_of(error),
                      kSaveLoss);
  }
  if (value.numel() == 1 && value.dim() == 0 && value.is_floating_point()) return;
  throw ConfigError("loss " + loss.name + " gives " + sizes(value) + " of " +
                        std::string(value.dtype().name()) + ", and not one number",
                    "take the mean over the batch, as .mean() does");
}

}  // namespace

Tensor two_zeros(const ArraySpec& array) {
  std::vector<std::int64_t> sides = array.shape;
  sides.insert(sides.begin(), 2);
  return torch::zeros(sides, array.type == ValueType::kInt64 ? torch::kInt64 : torch::kFloat32);
}

std::string cause_of(const std::exception& error) {
  const auto* const ours = dynamic_cast<const c10::Error*>(&error);
  std::string text = ours != nullptr ? ours->what_without_backtrace() : error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

Loss find_loss(std::string_view name, const ExampleSpec& examples) {
  check_loss(name);
  if (const auto file = script_file(name); !file.empty()) {
    return own_loss(std::string(file), examples);
  }
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
  const Kind& kind = *std::ranges::find(kKinds, name, &Kind::name);
  Loss loss{.name = std::string(name),
            .of = kind.of,
            .correct = {},
            .of_numbers = kind.of_numbers,
            .form = kind.form};
  if (kind.correct != nullptr) loss.correct = kind.correct;
  return loss;
}

double distance(const Tensor& outputs, const Tensor& targets) {
  return functional::l1_loss(like(outputs, targets), targets).item<double>();
}

void check_outputs(const Loss& loss, const Tensor& outputs, const Tensor& targets,
                   const ExampleSpec& examples, const std::string& whose) {
  if (loss.form.empty()) {
    try_own(loss, outputs, targets, whose);
    return;
  }
  const bool scores = loss.name == kLosses[0];
  const std::int64_t last = outputs.dim() > 0 ? outputs.size(-1) : 0;
  const bool fits =
      outputs.is_floating_point() && (scores ? last > 0 && outputs.numel() == targets.numel() * last
                                             : outputs.numel() == targets.numel());
  if (!fits) {
    throw ConfigError(whose + " gives " + sizes(outputs) + " for targets of " + sizes(targets) +
                          ", and loss " + loss.name + " needs " + std::string(loss.form),
                      "change the model's last layer, or --loss");
  }
  if (scores && last < examples.classes) {
    throw ConfigError(whose + " tells " + std::to_string(last) +
                          " classes apart, and the data have " + std::to_string(examples.classes),
                      "give it as many outputs as there are classes");
  }
}

}  // namespace fast
