#include "stencil/codec/int_codec.h"

#include <algorithm>
#include <array>

#include "stencil/codec/nibbles.h"
#include "stencil/core/float_bits.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/int_codec.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::ints {
namespace HWY_NAMESPACE {

constexpr int kBlock = static_cast<int>(IntCodec::kBlock);

/// 2^power, for a power of -126 .. 127.
inline float power_of_two(int power) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
}

/// A block of 64 in `kBits` for each value. Every loop runs over all of it without a branch, so
/// that it vectorises.
template <int kBits>
struct Coding {
  static constexpr int kLargest = (1 << (kBits - 1)) - 1;
  /// The step of a block is 2^(exponent - kBias).
  static constexpr int kBias = 127 + kBits - 2;
  /// Smaller exponents count as this one, so that its step, 2^-126, and the inverse of that are
  /// normal floats.
  static constexpr std::uint32_t kLowest = kBits - 1;

  /// False where a value is NaN or infinite.
  static bool round(const float* __restrict values, unsigned char* __restrict head,
                    unsigned char* __restrict out) {
    std::uint32_t largest = 0;
    for (int i = 0; i < kBlock; ++i) {
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(values[i]) & ~kFloatSign;
      largest = std::max(largest, magnitude);
    }
    const std::uint32_t exponent = std::max(largest >> 23, kLowest);
    const float steps = power_of_two(kBias - static_cast<int>(std::min(exponent, 254U)));
    *head = static_cast<unsigned char>(exponent);
    for (int i = 0; i < kBlock; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i]);
      const std::uint32_t magnitude = bits & ~kFloatSign;
      // The hash leaves out the sign, so that v and -v are rounded to opposite values.
      std::uint32_t hash = magnitude * 0x9e3779b1U + static_cast<std::uint32_t>(i) * 0x85ebca77U;
      hash = (hash ^ (hash >> 15)) * 0x2c1b3c6dU;
      hash ^= hash >> 12;
      // The odds have 16 bits, so that a number of steps plus the odds is exactly one float.
      const float odds = static_cast<float>(static_cast<std::int32_t>(hash >> 16)) * 0x1p-16F;
      const float scaled = std::bit_cast<float>(magnitude) * steps + odds;
      const auto rounded = static_cast<std::int32_t>(std::min<float>(kLargest, scaled));
      const std::int32_t sign = static_cast<std::int32_t>(bits) >> 31;  // 0 or -1
      out[i] = static_cast<unsigned char>((rounded ^ sign) - sign);
    }
    return largest < kFloatExponent;
  }

  /// False where round() never writes these bytes.
  static bool expand(unsigned char head, const unsigned char* __restrict in,
                     float* __restrict values) {
    const int exponent = std::min<int>(head, 254);
    const float step = power_of_two(std::max(exponent, static_cast<int>(kLowest)) - kBias);
    std::uint32_t bad = head == 255;
    for (int i = 0; i < kBlock; ++i) {
      const int value = static_cast<signed char>(in[i] << (8 - kBits)) >> (8 - kBits);
      bad |= static_cast<std::uint32_t>(value == -kLargest - 1);
      values[i] = static_cast<float>(value) * step;
    }
    return bad == 0;
  }
};

template <int kBits>
constexpr std::size_t block_size(std::size_t n) {
  return kBits == 4 ? nibbles::block_size(n) : 1 + n;
}

/// One block of `n` values, in buffers that have room for all 64.
template <int kBits>
bool encode_block(const float* values, std::size_t n, unsigned char* out) {
  if constexpr (kBits == 8) {
    if (n == IntCodec::kBlock) return Coding<8>::round(values, out, out + 1);
  }
  nibbles::Values rounded;
  const bool finite = Coding<kBits>::round(values, out, rounded.data());
  if constexpr (kBits == 4) {
    nibbles::pack(rounded, n, out);
  } else {
    std::copy_n(rounded.begin(), n, out + 1);
  }
  return finite;
}

template <int kBits>
bool decode_block(const unsigned char* in, std::size_t n, float* values) {
  if constexpr (kBits == 8) {
    if (n == IntCodec::kBlock) return Coding<8>::expand(*in, in + 1, values);
  }
  nibbles::Values coded{};
  if constexpr (kBits == 4) {
    nibbles::unpack(in, n, coded);
  } else {
    std::copy_n(in + 1, n, coded.begin());
  }
  return Coding<kBits>::expand(*in, coded.data(), values);
}

template <int kBits>
bool encode_all(const float* values, std::size_t count, unsigned char* out) {
  bool finite = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, out += block_size<kBits>(kBlock)) {
    finite &= encode_block<kBits>(values, kBlock, out);
  }
  if (count == 0) return finite;
  std::array<float, kBlock> rest{};
  std::copy_n(values, count, rest.begin());
  return encode_block<kBits>(rest.data(), count, out) && finite;
}

template <int kBits>
bool decode_all(const unsigned char* in, std::size_t count, float* values) {
  bool good = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, in += block_size<kBits>(kBlock)) {
    good &= decode_block<kBits>(in, kBlock, values);
  }
  if (count == 0) return good;
  std::array<float, kBlock> rest;
  good &= decode_block<kBits>(in, count, rest.data());
  std::copy_n(rest.begin(), count, values);
  return good;
}

bool encode(const float* values, std::size_t count, unsigned char* out, bool four) {
  return four ? encode_all<4>(values, count, out) : encode_all<8>(values, count, out);
}

bool decode(const unsigned char* in, std::size_t count, float* values, bool four) {
  return four ? decode_all<4>(in, count, values) : decode_all<8>(in, count, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::ints
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil {

namespace ints {
HWY_EXPORT(encode);
HWY_EXPORT(decode);
}  // namespace ints

std::size_t IntCodec::encoded_size(std::size_t floats) const {
  if (bits_ == 4) return nibbles::size(floats);
  return floats + (floats + kBlock - 1) / kBlock;
}

bool IntCodec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  const bool four = bits_ == 4;
  return HWY_DYNAMIC_DISPATCH(ints::encode)(values.data(), values.size(), bytes, four);
}

bool IntCodec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  const bool four = bits_ == 4;
  return HWY_DYNAMIC_DISPATCH(ints::decode)(bytes, out.size(), out.data(), four);
}

}  // namespace stencil

#endif  // HWY_ONCE
