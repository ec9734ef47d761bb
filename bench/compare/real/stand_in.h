#pragma once

#include <functional>
#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/train/learner.h"

namespace fast::compare {

/// A model with the parameters of `like` that waits instead of computing, so that more workers than
/// cores can show what exchange costs in time. A step's wait is laid over forward (one third) and
/// backward pass (two thirds), an equal share for each weight matrix or filter bank, and a
/// parameter's gradient (all zero) is there when its layer's share is over: what overlaps with the
/// backward pass overlaps here too. Its scores mean nothing. Evaluating does not wait.
/// `step_seconds()` says how long the next step is to last.
[[nodiscard]] std::shared_ptr<Model> make_stand_in(const Model& like, const ImageShape& shape,
                                                   std::function<double()> step_seconds);

}  // namespace fast::compare
