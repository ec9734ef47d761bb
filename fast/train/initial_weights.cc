#include "fast/train/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "stencil/core/random.h"

namespace fast {

void draw_weights(std::uint64_t seed, std::uint64_t index, std::string_view name,
                  std::span<const std::int64_t> shape, std::span<float> values) {
  if (shape.size() < 2) {
    std::ranges::fill(values, name.ends_with("bias") ? 0.0F : 1.0F);
    return;
  }
  const double gain = name == "fc.weight" ? 1 : 2;
  const auto inputs = static_cast<double>(values.size()) / static_cast<double>(shape[0]);
  const double deviation = std::sqrt(gain / inputs);
  stencil::Random random(stencil::Random::derive(seed, index));
  for (float& value : values) value = static_cast<float>(random.normal() * deviation);
}

}  // namespace fast
