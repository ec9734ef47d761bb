#include "stencil/codec/fp16_codec.h"

#include "stencil/codec/byte_order.h"
#include "stencil/core/half_floats.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/fp16_codec.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::fp16 {
namespace HWY_NAMESPACE {

// Every loop is one pass without an early exit, which includes the check for finite values.

/// The values from `begin` on, by integer arithmetic.
std::uint32_t encode_from(std::size_t begin, const float* __restrict values, std::size_t count,
                          unsigned char* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = begin; i < count; ++i) {
    marks |= non_finite_mark(std::bit_cast<std::uint32_t>(values[i]));
    store_little_endian(half_from_float(values[i]), out + 2 * i);
  }
  return marks;
}

std::uint32_t decode_from(std::size_t begin, const unsigned char* __restrict in, std::size_t count,
                          float* __restrict out) {
  std::uint32_t marks = 0;
  for (std::size_t i = begin; i < count; ++i) {
    out[i] = float_from_half(load_little_endian<std::uint16_t>(in + 2 * i));
    marks |= non_finite_mark(std::bit_cast<std::uint32_t>(out[i]));
  }
  return marks;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // has an instruction with the same rounding

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Bits = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<hwy::float16_t, Floats>;

bool encode(const float* values, std::size_t count, unsigned char* out) {
  const Floats f;
  const Bits u;
  const auto largest = hn::Set(f, 65504.0F);
  const auto exponent = hn::Set(u, kFloatExponent);
  const auto lowest = hn::Set(u, non_finite_mark(0));
  auto marks = hn::Zero(u);
  std::size_t i = 0;
  for (; i + hn::Lanes(f) <= count; i += hn::Lanes(f)) {
    const auto x = hn::LoadU(f, values + i);
    marks = hn::Or(marks, hn::Add(hn::And(hn::BitCast(u, x), exponent), lowest));
    const auto clamped = hn::Min(hn::Max(x, hn::Neg(largest)), largest);
    hn::StoreU(hn::DemoteTo(Halves(), clamped), Halves(),
               reinterpret_cast<hwy::float16_t*>(out + 2 * i));
  }
  const bool finite = hn::AllFalse(u, hn::Gt(marks, hn::Set(u, ~kFloatSign)));
  return all_finite(encode_from(i, values, count, out)) && finite;
}

bool decode(const unsigned char* in, std::size_t count, float* out) {
  const Floats f;
  const Bits u;
  const auto exponent = hn::Set(u, kFloatExponent);
  const auto lowest = hn::Set(u, non_finite_mark(0));
  auto marks = hn::Zero(u);
  std::size_t i = 0;
  for (; i + hn::Lanes(f) <= count; i += hn::Lanes(f)) {
    const auto halves = hn::LoadU(Halves(), reinterpret_cast<const hwy::float16_t*>(in + 2 * i));
    const auto x = hn::PromoteTo(f, halves);
    marks = hn::Or(marks, hn::Add(hn::And(hn::BitCast(u, x), exponent), lowest));
    hn::StoreU(x, f, out + i);
  }
  const bool finite = hn::AllFalse(u, hn::Gt(marks, hn::Set(u, ~kFloatSign)));
  return all_finite(decode_from(i, in, count, out)) && finite;
}

#else

bool encode(const float* values, std::size_t count, unsigned char* out) {
  return all_finite(encode_from(0, values, count, out));
}

bool decode(const unsigned char* in, std::size_t count, float* out) {
  return all_finite(decode_from(0, in, count, out));
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stencil::fp16
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil {

namespace fp16 {
HWY_EXPORT(encode);
HWY_EXPORT(decode);
}  // namespace fp16

std::size_t Fp16Codec::encoded_size(std::size_t floats) const {
  return 2 * floats;
}

bool Fp16Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  return HWY_DYNAMIC_DISPATCH(fp16::encode)(values.data(), values.size(), bytes);
}

bool Fp16Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  return HWY_DYNAMIC_DISPATCH(fp16::decode)(bytes, out.size(), out.data());
}

}  // namespace stencil

#endif  // HWY_ONCE
