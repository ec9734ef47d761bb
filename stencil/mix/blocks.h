#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stencil/codec/codec.h"
#include "stencil/mix/kernels.h"

/// Walks a bucket in blocks that fit the first-level cache, so that decoding, arithmetic and
/// encoding together make one pass over memory. Where the codec is the identity, the arithmetic
/// reads and writes the payload itself.
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

/// The payload as floats; nullptr where it has to be decoded or is not aligned for floats.
template <typename Float, typename Byte>
Float* in_place(const Codec& codec, std::span<Byte> bytes) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Float) == 0;
  return codec.is_identity() && aligned ? reinterpret_cast<Float*>(bytes.data()) : nullptr;
}

/// A payload that is read block by block.
class Incoming {
 public:
  Incoming(const Codec& codec, std::span<const std::byte> bytes)
      : codec_(codec), bytes_(bytes), floats_(in_place<const float>(codec, bytes)) {}

  /// Values `begin` .. `begin + n`, valid until the next call. They may include NaN and infinity;
  /// see all_finite().
  const float* block(std::size_t begin, std::size_t n) {
    if (floats_ != nullptr) return floats_ + begin;
    finite_ &= codec_.decode(coded(codec_, bytes_, begin, n), {space_.data(), n});
    return space_.data();
  }
  /// False when a block read so far could not be decoded.
  [[nodiscard]] bool decodable() const { return finite_; }

  /// Checks all `floats` values. Call it before block().
  bool all_finite(std::size_t floats) {
    if (floats_ != nullptr) return kernels::finite(floats_, floats);
    for_blocks(floats, [&](std::size_t begin, std::size_t n) { (void)block(begin, n); });
    return finite_;
  }

 private:
  const Codec& codec_;
  std::span<const std::byte> bytes_;
  const float* floats_;
  bool finite_ = true;
  Block space_;
};

/// A payload that is written block by block.
class Outgoing {
 public:
  Outgoing(const Codec& codec, std::span<std::byte> bytes)
      : codec_(codec), bytes_(bytes), floats_(in_place<float>(codec, bytes)) {}

  /// Where to write the values from `begin` on.
  float* space(std::size_t begin) { return floats_ != nullptr ? floats_ + begin : space_.data(); }
  /// Call it when `n` finite values are in place. Returns false when they cannot be coded.
  [[nodiscard]] bool write(std::size_t begin, std::size_t n) {
    return floats_ != nullptr || codec_.encode({space_.data(), n}, coded(codec_, bytes_, begin, n));
  }

 private:
  const Codec& codec_;
  std::span<std::byte> bytes_;
  float* floats_;
  Block space_;
};

}  // namespace stencil
