#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fast {

/// Draws the initial values of parameter `index` of a model, which depend on the model's seed, the
/// parameter's index, name and shape alone: the same in every framework, with every version of it
/// and on every processor, so that workers of different frameworks begin alike. `values` are in
/// row-major order, the outputs of a layer first.
///
/// Gaussian weights of variance 2 / inputs (He et al. 2015, "Delving deep into rectifiers"), of
/// 1 / inputs for the classifier "fc.weight", which no rectifier follows. Of what has fewer than
/// two dimensions, a "..bias" is 0 and a scale 1. Each parameter has its own stream of random
/// numbers, so that a change to one layer does not move the others.
void draw_weights(std::uint64_t seed, std::uint64_t index, std::string_view name,
                  std::span<const std::int64_t> shape, std::span<float> values);

}  // namespace fast
