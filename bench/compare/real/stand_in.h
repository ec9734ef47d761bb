#pragma once

#include <functional>
#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/train/learner.h"

namespace fast::compare {

/// A model with the parameters of `like` that waits instead of computing, so that the time of an
/// exchange can be measured with more workers than cores. A step's wait is divided between forward
/// (one third) and backward pass (two thirds), in equal shares for each weight matrix or filter
/// bank. A parameter's gradient (all zero) is ready when its layer's share is over, so that
/// exchanges overlap with the backward pass as with a real model. Its scores mean nothing.
/// Evaluation does not wait. `step_seconds()` returns the time of the next step.
[[nodiscard]] std::shared_ptr<Model> make_stand_in(const Model& like, const ExampleSpec& examples,
                                                   std::function<double()> step_seconds);

}  // namespace fast::compare
