#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fast/data/example_spec.h"

namespace fast {

class Model;

/// A model of the user's: a TorchScript file (torch.jit.script(model).save(FILE)) that takes one
/// tensor, a batch of what `examples` says, and returns one, for `loss` (see losses.h). Its
/// parameters that require gradients are trained under their own names; frozen ones and buffers
/// stay as they are, and running statistics of BatchNorm are averaged as those of our models are.
/// Its weights are those of the file.
///
/// Throws ConfigError for a file that is none, for a model without trainable parameters or with
/// some that are no floats, and where its forward fails for two examples of zeros, or returns what
/// does not fit the targets.
[[nodiscard]] std::shared_ptr<Model> load_script(const std::string& file,
                                                 const ExampleSpec& examples,
                                                 std::string_view loss);

}  // namespace fast
