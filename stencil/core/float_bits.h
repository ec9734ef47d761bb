#pragma once

#include <bit>
#include <cstdint>

/// Finds NaN and infinity without a branch, so that loops over floats vectorise: a loop ors the
/// marks of all its values and tests the result once at the end.
namespace stencil {

inline constexpr std::uint32_t kFloatSign = 0x80000000;
inline constexpr std::uint32_t kFloatExponent = 0x7f800000;

/// Bit 31 is set where the float with these bits is NaN or infinite: adding 1 to a full exponent
/// carries into that bit.
[[nodiscard]] constexpr std::uint32_t non_finite_mark(std::uint32_t bits) {
  return (bits & kFloatExponent) + 0x00800000;
}

[[nodiscard]] constexpr bool all_finite(std::uint32_t marks) {
  return (marks & kFloatSign) == 0;
}

/// `yes` or `no` without a branch.
[[nodiscard]] constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

}  // namespace stencil
