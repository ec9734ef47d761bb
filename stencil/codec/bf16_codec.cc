#include "stencil/codec/bf16_codec.h"

#include "stencil/codec/byte_order.h"
#include "stencil/core/half_floats.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/bf16_codec.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::bf16 {
namespace HWY_NAMESPACE {

bool encode(const float* __restrict values, std::size_t count, unsigned char* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    marks |= non_finite_mark(bits);
    store_little_endian(bf16_from_bits(bits), out + 2 * i);
  }
  return all_finite(marks);
}

bool decode(const unsigned char* __restrict in, std::size_t count, float* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = std::uint32_t{load_little_endian<std::uint16_t>(in + 2 * i)} << 16;
    marks |= non_finite_mark(bits);
    out[i] = std::bit_cast<float>(bits);
  }
  return all_finite(marks);
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::bf16
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil {

namespace bf16 {
HWY_EXPORT(encode);
HWY_EXPORT(decode);
}  // namespace bf16

std::size_t Bf16Codec::encoded_size(std::size_t floats) const {
  return 2 * floats;
}

bool Bf16Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  return HWY_DYNAMIC_DISPATCH(bf16::encode)(values.data(), values.size(), bytes);
}

bool Bf16Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  return HWY_DYNAMIC_DISPATCH(bf16::decode)(bytes, out.size(), out.data());
}

}  // namespace stencil

#endif  // HWY_ONCE
