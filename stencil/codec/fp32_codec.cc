#include "stencil/codec/fp32_codec.h"

#include "stencil/codec/byte_order.h"
#include "stencil/core/float_bits.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/fp32_codec.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::fp32 {
namespace HWY_NAMESPACE {

// Each loop is one pass without an early exit, so that it vectorises.

bool to_wire(const float* __restrict values, std::size_t count, unsigned char* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    marks |= non_finite_mark(bits);
    store_little_endian(bits, out + 4 * i);
  }
  return all_finite(marks);
}

bool from_wire(const unsigned char* __restrict in, std::size_t count, float* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = load_little_endian<std::uint32_t>(in + 4 * i);
    marks |= non_finite_mark(bits);
    out[i] = std::bit_cast<float>(bits);
  }
  return all_finite(marks);
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::fp32
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil {

namespace fp32 {
HWY_EXPORT(to_wire);
HWY_EXPORT(from_wire);
}  // namespace fp32

std::size_t Fp32Codec::encoded_size(std::size_t floats) const {
  return 4 * floats;
}

bool Fp32Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  return HWY_DYNAMIC_DISPATCH(fp32::to_wire)(values.data(), values.size(), bytes);
}

bool Fp32Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  return HWY_DYNAMIC_DISPATCH(fp32::from_wire)(bytes, out.size(), out.data());
}

}  // namespace stencil

#endif  // HWY_ONCE
