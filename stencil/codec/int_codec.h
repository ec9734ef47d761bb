#pragma once

#include "stencil/codec/codec.h"

namespace stencil {

/// 8 or 4 bits a value and one exponent for each block of 64. int8 takes a quarter of the bytes and
/// its step is at most 1.6 % of the block's largest magnitude; int4 takes an eighth, with a step of
/// at most 25 %. It codes the differences in replies, which shrink as workers agree.
/// mix/codecs/kinds.cc says how the values themselves travel.
///
///   int8: block := exponent (1 byte) value (1 byte, two's complement) x 1 .. 64
///         a float is value * 2^(exponent - 133)
///   int4: block := exponent (1 byte) value (4 bits, two's complement) x 1 .. 64, see nibbles.h
///         a float is value * 2^(exponent - 129)
///
/// `exponent` is that of the block's largest magnitude, with a float's own bias, so the largest
/// magnitude becomes 64 .. 127, or 4 .. 7. The exponent 255 and the value -128, or -8, are never
/// sent, and decode() refuses them.
///
/// Since the step is a power of two, decoding is exact, and encoding what was decoded gives the
/// same bytes. Rounding is stochastic: a value is rounded up with a probability equal to its
/// fraction of a step, so the mean error is 0. The odds come from a hash of the value's bits and of
/// its place in the block, so that runs repeat and the codec has no state. A magnitude above 127
/// steps, or 7, saturates there; this happens only near the block's largest.
class IntCodec final : public Codec {
 public:
  static constexpr std::size_t kBlock = 64;  ///< floats that share an exponent

  /// 8 or 4.
  explicit IntCodec(int bits) : bits_(bits) {}

  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override;
  [[nodiscard]] bool encode(std::span<const float> values, std::span<std::byte> out) const override;
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<float> out) const override;

 private:
  int bits_;
};

}  // namespace stencil
