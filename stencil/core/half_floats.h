#pragma once

#include <bit>
#include <cstdint>

#include "stencil/core/float_bits.h"

/// The two 16-bit float formats. The code has no branches, so that loops over it vectorise.
namespace stencil {

/// bfloat16, the upper half of a float: the bits of one finite value, rounded to nearest, ties to
/// even; saturates at the largest finite value, 3.39e38; keeps denormals.
[[nodiscard]] constexpr std::uint16_t bf16_from_bits(std::uint32_t bits) {
  constexpr std::uint32_t kLargest = 0x7f7f0000;
  const std::uint32_t sign = (bits & kFloatSign) >> 16;
  std::uint32_t magnitude = bits & ~kFloatSign;
  magnitude = select(magnitude < kLargest, magnitude, kLargest);
  // Just under half an ulp and the parity of the last kept bit: ties go to even.
  const std::uint32_t odd = (magnitude >> 16) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude + 0x7fff + odd) >> 16));
}

/// Exact. NaN and infinity stay what they are.
[[nodiscard]] constexpr float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// IEEE 754 binary16: the bits of one finite value (of a NaN or an infinity: of some finite half),
/// rounded to nearest, ties to even; saturates at +-65504; keeps denormals. After Giesen,
/// "float->half variants".
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

// For any value: too large a finite value saturates, NaN and infinity stay what they are.

[[nodiscard]] inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (all_finite(non_finite_mark(bits))) return bf16_from_bits(bits);
  return static_cast<std::uint16_t>(bits >> 16 | (value != value ? 0x0040U : 0U));
}

[[nodiscard]] inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (all_finite(non_finite_mark(bits))) return half_from_float(value);
  const std::uint32_t infinite = (bits >> 16 & 0x8000U) | 0x7c00U;
  return static_cast<std::uint16_t>(infinite | (value != value ? 0x0200U : 0U));
}

}  // namespace stencil
