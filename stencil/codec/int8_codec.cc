#include "stencil/codec/int8_codec.h"

#include <algorithm>
#include <array>

#include "stencil/codec/float_bits.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/int8_codec.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::int8 {
namespace HWY_NAMESPACE {

constexpr int kBlock = static_cast<int>(Int8Codec::kBlock);
// Smaller exponents count as this one: its step, 2^-126, and the step's inverse are normal floats.
constexpr std::uint32_t kLowest = 7;

/// 2^power, for a power of -126 .. 127.
inline float power_of_two(int power) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
}

/// One block. Every loop runs over all of it without a branch, so that it vectorises.
bool encode_block(const float* __restrict values, unsigned char* __restrict out) {
  std::uint32_t largest = 0;
  for (int i = 0; i < kBlock; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(values[i]) & ~kFloatSign;
    largest = std::max(largest, magnitude);
  }
  const std::uint32_t exponent = std::max(largest >> 23, kLowest);
  const float steps = power_of_two(133 - static_cast<int>(std::min(exponent, 254U)));
  out[0] = static_cast<unsigned char>(exponent);
  for (int i = 0; i < kBlock; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const std::uint32_t magnitude = bits & ~kFloatSign;
    // Without the sign, so that the opposite value is rounded to the opposite.
    std::uint32_t hash = magnitude * 0x9e3779b1U + static_cast<std::uint32_t>(i) * 0x85ebca77U;
    hash = (hash ^ (hash >> 15)) * 0x2c1b3c6dU;
    hash ^= hash >> 12;
    // 16 bits, so that a whole number of steps and these are one float exactly.
    const float odds = static_cast<float>(static_cast<std::int32_t>(hash >> 16)) * 0x1p-16F;
    const float scaled = std::bit_cast<float>(magnitude) * steps + odds;
    const std::int32_t rounded = static_cast<std::int32_t>(std::min(127.0F, scaled));
    const std::int32_t sign = static_cast<std::int32_t>(bits) >> 31;  // 0 or -1
    out[1 + i] = static_cast<unsigned char>((rounded ^ sign) - sign);
  }
  return largest < kFloatExponent;
}

bool decode_block(const unsigned char* __restrict in, float* __restrict values) {
  const int exponent = std::min<int>(in[0], 254);
  const float step = power_of_two(std::max(exponent, static_cast<int>(kLowest)) - 133);
  std::uint32_t bad = in[0] == 255;
  for (int i = 0; i < kBlock; ++i) {
    const auto value = static_cast<signed char>(in[1 + i]);
    bad |= static_cast<std::uint32_t>(value == -128);
    values[i] = static_cast<float>(value) * step;
  }
  return bad == 0;
}

bool encode(const float* values, std::size_t count, unsigned char* out) {
  bool finite = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, out += kBlock + 1) {
    finite &= encode_block(values, out);
  }
  if (count == 0) return finite;
  std::array<float, kBlock> rest{};
  std::array<unsigned char, kBlock + 1> coded;
  std::copy_n(values, count, rest.begin());
  finite &= encode_block(rest.data(), coded.data());
  std::copy_n(coded.begin(), count + 1, out);
  return finite;
}

bool decode(const unsigned char* in, std::size_t count, float* values) {
  bool good = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, in += kBlock + 1) {
    good &= decode_block(in, values);
  }
  if (count == 0) return good;
  std::array<unsigned char, kBlock + 1> coded{};
  std::array<float, kBlock> rest;
  std::copy_n(in, count + 1, coded.begin());
  good &= decode_block(coded.data(), rest.data());
  std::copy_n(rest.begin(), count, values);
  return good;
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::int8
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil {

namespace int8 {
HWY_EXPORT(encode);
HWY_EXPORT(decode);
}  // namespace int8

std::size_t Int8Codec::encoded_size(std::size_t floats) const {
  return floats + (floats + kBlock - 1) / kBlock;
}

bool Int8Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  return HWY_DYNAMIC_DISPATCH(int8::encode)(values.data(), values.size(), bytes);
}

bool Int8Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  return HWY_DYNAMIC_DISPATCH(int8::decode)(bytes, out.size(), out.data());
}

}  // namespace stencil

#endif  // HWY_ONCE
