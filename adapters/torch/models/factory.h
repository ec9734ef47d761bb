#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "adapters/torch/models/model.h"
#include "fast/learner.h"

namespace fast {

/// linear | mlp | resnet8 | resnet20 | resnet18, for images of `shape`. Weights are drawn here, by
/// our own generator and not by LibTorch's: equal seeds give equal weights in every process, with
/// every version of LibTorch. Throws ConfigError for an unknown name, listing the known ones.
[[nodiscard]] std::shared_ptr<Model> make_model(std::string_view name, const ImageShape& shape,
                                                std::uint64_t seed);

}  // namespace fast
