#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

/// Blocks of 64 values of four bits, after one byte for the whole block (its exponent). Byte i of
/// the 32 that follow holds value i in its low half and value 32 + i in its high half, so that
/// packing works on adjacent bytes. A block of fewer than 32 values has one byte for each.
namespace stencil::nibbles {

inline constexpr std::size_t kBlock = 64;
inline constexpr std::size_t kHalf = kBlock / 2;

/// The values of a block before packing, one a byte; only the low four bits count.
using Values = std::array<unsigned char, kBlock>;

/// Bytes of a block of `n` <= kBlock.
[[nodiscard]] constexpr std::size_t block_size(std::size_t n) {
  return 1 + std::min(n, kHalf);
}

/// Bytes of `floats` values.
[[nodiscard]] constexpr std::size_t size(std::size_t floats) {
  const std::size_t rest = floats % kBlock;
  return floats / kBlock * block_size(kBlock) + (rest > 0 ? block_size(rest) : 0);
}

/// Writes the low four bits of each of the first `n` values after the first byte of `out`. Requires
/// that `values` are 0 from `n` on.
inline void pack(const Values& values, std::size_t n, unsigned char* out) {
  std::array<unsigned char, kHalf> bytes;
  for (std::size_t i = 0; i < kHalf; ++i) {
    bytes[i] = static_cast<unsigned char>((values[i] & 15U) | (values[kHalf + i] & 15U) << 4U);
  }
  std::copy_n(bytes.begin(), std::min(n, kHalf), out + 1);
}

/// The inverse: values of 0 .. 15, and 0 from `n` on.
inline void unpack(const unsigned char* in, std::size_t n, Values& values) {
  std::array<unsigned char, kHalf> bytes{};
  std::copy_n(in + 1, std::min(n, kHalf), bytes.begin());
  for (std::size_t i = 0; i < kHalf; ++i) {
    values[i] = bytes[i] & 15U;
    values[kHalf + i] = bytes[i] >> 4U;
  }
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(n), values.end(), 0);
}

}  // namespace stencil::nibbles
