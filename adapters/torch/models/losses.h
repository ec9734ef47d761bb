#pragma once

#include <torch/types.h>

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/example_spec.h"

namespace fast {

/// What a model is trained by. Value type. `outputs` are the model's for a batch, `targets` the
/// batch's own; both have the batch as their first axis.
struct Loss {
  std::string name;
  /// The mean over all targets of the batch.
  std::function<torch::Tensor(const torch::Tensor& outputs, const torch::Tensor& targets)> of;
  /// How many targets are right; empty: there is no right and wrong.
  std::function<double(const torch::Tensor& outputs, const torch::Tensor& targets)> correct;
  /// Targets are numbers of any size, so that the distance from them says something.
  bool of_numbers = false;
  /// What outputs are to look like, of which targets; for messages. Empty: the loss itself says.
  std::string_view form;
};

/// cross_entropy: a row of scores for each integer target, classes last; mse, l1, bce: a number for
/// each target (bce: a logit, of targets 0 and 1); script:FILE, a TorchScript module whose
/// forward(output, target) returns a number. Throws ConfigError for another name, where the targets
/// of these examples are not what it is for, and for a file that is none.
[[nodiscard]] Loss find_loss(std::string_view name, const ExampleSpec& examples);

/// The mean of |outputs - targets|, for a loss of numbers.
[[nodiscard]] double distance(const torch::Tensor& outputs, const torch::Tensor& targets);

/// Two examples of zeros, to try a model with.
[[nodiscard]] torch::Tensor two_zeros(const ArraySpec& array);

/// The cause in TorchScript's errors, which begin with a trace of the script: the last line that
/// says something.
[[nodiscard]] std::string cause_of(const std::exception& error);

/// Throws ConfigError where these outputs do not fit these targets; says whose they are. A loss of
/// the user's own is tried, and has to give one number.
void check_outputs(const Loss& loss, const torch::Tensor& outputs, const torch::Tensor& targets,
                   const ExampleSpec& examples, const std::string& whose);

}  // namespace fast
