#pragma once

#include <bit>
#include <cstdint>

#include "stencil/codec/codec.h"
#include "stencil/codec/float_bits.h"

namespace stencil {

/// IEEE 754 binary16, little-endian: half the bytes, 11 significant bits. Rounds to nearest, ties
/// to even; saturates at +-65504; keeps denormals.
///
/// Workers that exchange on and on in it agree to 0.9e-4 .. 1.3e-4 of |x| (simulated: rings, tori,
/// complete graphs of 4 to 16), which is its rounding; the end of a run, in fp32, goes below.
class Fp16Codec final : public Codec {
 public:
  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override;
  [[nodiscard]] bool encode(std::span<const float> values, std::span<std::byte> out) const override;
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<float> out) const override;
};

/// One finite value (of a NaN or an infinity: some finite half). After Giesen, "float->half
/// variants".
[[nodiscard]] inline std::uint16_t half_from_float(float value) {
  constexpr std::uint32_t kLargest = 0x477fe000;                      // 65504
  constexpr std::uint32_t kSmallestNormal = (127U - 14U) << 23;       // 2^-14
  constexpr std::uint32_t kDenormalShift = (127U - 14U + 13U) << 23;  // 2^-1: its ulp is 2^-24
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  std::uint32_t magnitude = bits & 0x7fffffff;
  magnitude = select(magnitude < kLargest, magnitude, kLargest);

  // Normal: rebias the exponent, add just under half an ulp and the parity of the last kept bit.
  const std::uint32_t odd = (magnitude >> 13) & 1;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfff + odd) >> 13;
  // Denormal: the float adder rounds at the right place when 2^-24 is the sum's last bit.
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kDenormalShift);
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(sum) - kDenormalShift;

  return static_cast<std::uint16_t>(sign | select(magnitude < kSmallestNormal, denormal, normal));
}

/// Exact. NaN and infinity stay what they are.
[[nodiscard]] inline float float_from_half(std::uint16_t half) {
  constexpr std::uint32_t kExponent = 0x7c00U << 13;
  constexpr std::uint32_t kSmallestNormal = 113U << 23;  // 2^-14
  const std::uint32_t sign = (std::uint32_t{half} & 0x8000) << 16;
  const std::uint32_t bits = (std::uint32_t{half} & 0x7fff) << 13;
  const std::uint32_t exponent = bits & kExponent;

  const std::uint32_t normal = bits + (112U << 23);
  const std::uint32_t special = bits + (224U << 23);
  // Denormal: read the fraction as that of 2^-14 * 1.f and take the 1 away again.
  const float difference =
      std::bit_cast<float>(bits + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal);
  const auto denormal = std::bit_cast<std::uint32_t>(difference);

  const std::uint32_t finite = select(exponent == 0, denormal, normal);
  return std::bit_cast<float>(sign | select(exponent == kExponent, special, finite));
}

}  // namespace stencil
