#pragma once

#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/data/image_shape.h"

namespace fast {

/// Two hidden layers of 256 and 128 rectified units.
[[nodiscard]] std::shared_ptr<Model> make_mlp(const ImageShape& shape);

}  // namespace fast
