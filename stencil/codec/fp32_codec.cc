#include "stencil/codec/fp32_codec.h"

#include <bit>
#include <cstdint>

#include "stencil/codec/byte_order.h"

namespace stencil {

namespace {

constexpr std::uint32_t kExponent = 0x7f800000;
constexpr std::uint32_t kLowest = 0x00800000;  // 1 more than a full exponent carries into bit 31
constexpr std::uint32_t kCarry = 0x80000000;

// Each loop is one pass without an early end, so that it vectorises.

bool to_wire(const float* __restrict values, std::size_t count, unsigned char* __restrict out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    bad |= (bits & kExponent) + kLowest;
    store_little_endian(bits, out + 4 * i);
  }
  return (bad & kCarry) == 0;
}

bool from_wire(const unsigned char* __restrict in, std::size_t count, float* __restrict out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = load_little_endian<std::uint32_t>(in + 4 * i);
    bad |= (bits & kExponent) + kLowest;
    out[i] = std::bit_cast<float>(bits);
  }
  return (bad & kCarry) == 0;
}

}  // namespace

std::size_t Fp32Codec::encoded_size(std::size_t floats) const {
  return 4 * floats;
}

bool Fp32Codec::encode(std::span<const float> values, std::span<std::byte> out) const {
  if (out.size() != encoded_size(values.size())) return false;
  return to_wire(values.data(), values.size(), reinterpret_cast<unsigned char*>(out.data()));
}

bool Fp32Codec::decode(std::span<const std::byte> in, std::span<float> out) const {
  if (in.size() != encoded_size(out.size())) return false;
  return from_wire(reinterpret_cast<const unsigned char*>(in.data()), out.size(), out.data());
}

}  // namespace stencil
