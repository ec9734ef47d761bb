#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "stencil/codec/codec.h"

/// Walking a bucket in blocks that stay in the first-level cache, so that decoding, arithmetic and
/// encoding make one pass over memory together.
namespace stencil {

inline constexpr std::size_t kBlockFloats = kCodecBlock;
using Block = std::array<float, kBlockFloats>;

template <typename Visit>
void for_blocks(std::size_t floats, Visit visit) {
  for (std::size_t begin = 0; begin < floats; begin += kBlockFloats) {
    visit(begin, std::min(kBlockFloats, floats - begin));
  }
}

/// The coded bytes of `floats` values from `begin` on.
template <typename Byte>
std::span<Byte> coded(const Codec& codec, std::span<Byte> bytes, std::size_t begin,
                      std::size_t floats) {
  return bytes.subspan(codec.encoded_size(begin), codec.encoded_size(floats));
}

inline bool all_finite(const Codec& codec, std::span<const std::byte> bytes, std::size_t floats) {
  bool finite = true;
  Block block;
  for_blocks(floats, [&](std::size_t begin, std::size_t n) {
    finite &= codec.decode(coded(codec, bytes, begin, n), {block.data(), n});
  });
  return finite;
}

}  // namespace stencil
