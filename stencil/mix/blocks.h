#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stencil/codec/codec.h"
#include "stencil/mix/kernels.h"

/// Walking a bucket in blocks that stay in the first-level cache, so that decoding, arithmetic and
/// encoding make one pass over memory together. Where the codec leaves floats as they are, the
/// arithmetic reads and writes the payload itself.
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

/// The payload as floats; nullptr where it has to be coded, or does not lie as floats must.
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

  /// Values `begin` .. `begin + n`, good until the next call. A NaN or an infinity may be among
  /// them: see all_finite().
  const float* block(std::size_t begin, std::size_t n) {
    if (floats_ != nullptr) return floats_ + begin;
    finite_ &= codec_.decode(coded(codec_, bytes_, begin, n), {room_.data(), n});
    return room_.data();
  }
  /// False when a block read so far could not be decoded.
  [[nodiscard]] bool decodable() const { return finite_; }

  /// Looks at all `floats` values, beforehand.
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
  Block room_;
};

/// A payload that is written block by block.
class Outgoing {
 public:
  Outgoing(const Codec& codec, std::span<std::byte> bytes)
      : codec_(codec), bytes_(bytes), floats_(in_place<float>(codec, bytes)) {}

  /// Where values `begin` .. are to be put.
  float* room(std::size_t begin) { return floats_ != nullptr ? floats_ + begin : room_.data(); }
  /// To be called when `n` finite values are there. False when they cannot be coded.
  [[nodiscard]] bool write(std::size_t begin, std::size_t n) {
    return floats_ != nullptr || codec_.encode({room_.data(), n}, coded(codec_, bytes_, begin, n));
  }

 private:
  const Codec& codec_;
  std::span<std::byte> bytes_;
  float* floats_;
  Block room_;
};

}  // namespace stencil
