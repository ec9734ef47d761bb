#pragma once

#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/data/image_shape.h"

namespace fast {

/// Softmax regression on the pixels.
[[nodiscard]] std::shared_ptr<Model> make_linear(const ImageShape& shape);

}  // namespace fast
