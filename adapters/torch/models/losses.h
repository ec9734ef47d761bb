#pragma once

#include <torch/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "fast/data/example_spec.h"

namespace fast {

/// What a model is trained by. `outputs` are the model's for a batch, `targets` the batch's own;
/// both have the batch as their first axis.
struct Loss {
  std::string_view name;
  /// The mean over all targets of the batch.
  torch::Tensor (*of)(const torch::Tensor& outputs, const torch::Tensor& targets);
  /// How many targets are right; null: there is no right and wrong.
  double (*correct)(const torch::Tensor& outputs, const torch::Tensor& targets);
  /// What outputs are to look like, of which targets; for messages.
  std::string_view form;
};

/// cross_entropy: a row of scores for each integer target, classes last; mse, l1, bce: a number for
/// each target (bce: a logit, of targets 0 and 1). Throws ConfigError for another name, and where
/// the targets of these examples are not what it is for.
[[nodiscard]] const Loss& find_loss(std::string_view name, const ExampleSpec& examples);

/// Throws ConfigError where these outputs do not fit these targets; says whose they are.
void check_outputs(const Loss& loss, const torch::Tensor& outputs, const torch::Tensor& targets,
                   const ExampleSpec& examples, const std::string& whose);

}  // namespace fast
