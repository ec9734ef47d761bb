#pragma once

#include <memory>

#include "adapters/torch/models/model.h"
#include "fast/data/image_shape.h"

namespace fast {

/// The residual networks for small images of He et al. 2015 ("Deep residual learning for image
/// recognition", section 4.2): 6 n + 2 layers, widths 16, 32, 64, shortcuts without parameters
/// (option A). n = 1: resnet8, 0.08 M parameters; n = 3: resnet20, 0.27 M.
[[nodiscard]] std::shared_ptr<Model> make_cifar_resnet(const ImageShape& shape, int n);

/// ResNet-18 with a stem for small images (3x3, no pooling), widths 64 to 512, shortcuts by 1x1
/// convolutions where the shape changes: 11.17 M parameters.
[[nodiscard]] std::shared_ptr<Model> make_resnet18(const ImageShape& shape);

}  // namespace fast
