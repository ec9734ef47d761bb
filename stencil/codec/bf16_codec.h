#pragma once

#include "stencil/codec/codec.h"
#include "stencil/codec/float_bits.h"

namespace stencil {

/// bfloat16, little-endian: the upper half of a float. Half the bytes, all of a float's range, 8
/// significant bits. Rounds to nearest, ties to even; saturates at its largest finite value,
/// 3.39e38; keeps denormals.
///
/// Workers that exchange on and on in it agree to 0.7e-3 .. 1.1e-3 of |x| (simulated: rings, tori,
/// complete graphs of 4 to 16), which is its rounding; the end of a run, in fp32, goes below.
class Bf16Codec final : public Codec {
 public:
  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override;
  [[nodiscard]] bool encode(std::span<const float> values, std::span<std::byte> out) const override;
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<float> out) const override;
};

/// The bits of one finite value, rounded.
[[nodiscard]] constexpr std::uint16_t bf16_from_bits(std::uint32_t bits) {
  constexpr std::uint32_t kLargest = 0x7f7f0000;
  const std::uint32_t sign = (bits & kFloatSign) >> 16;
  std::uint32_t magnitude = bits & ~kFloatSign;
  magnitude = select(magnitude < kLargest, magnitude, kLargest);
  // Just under half an ulp and the parity of the last kept bit: ties go to even.
  const std::uint32_t odd = (magnitude >> 16) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude + 0x7fff + odd) >> 16));
}

}  // namespace stencil
