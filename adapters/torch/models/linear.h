#pragma once

#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/learner.h"

namespace fast {

/// Softmax regression on the pixels.
[[nodiscard]] std::shared_ptr<Model> make_linear(const ImageShape& shape);

}  // namespace fast
