#pragma once

#include "stencil/codec/codec.h"

namespace stencil {

/// bfloat16, little-endian: the upper half of a float. Half the bytes, all of a float's range, 8
/// significant bits. Rounds to nearest, ties to even; saturates at its largest finite value,
/// 3.39e38; keeps denormals.
///
/// Workers that keep exchanging in this codec agree to 0.7e-3 .. 1.1e-3 of |x| (simulated: rings,
/// tori, complete graphs of 4 to 16), which is its rounding; the end of a run, in fp32, goes below
/// that.
class Bf16Codec final : public Codec {
 public:
  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override;
  [[nodiscard]] bool encode(std::span<const float> values, std::span<std::byte> out) const override;
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<float> out) const override;
};

}  // namespace stencil
