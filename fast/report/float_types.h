#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "stencil/core/half_floats.h"

namespace fast {

// The float types of safetensors that have a mean: their bits, as doubles and back.

struct F64 {
  using Bits = double;
  static double read(double bits) { return bits; }
  static double write(double value) { return value; }
};
struct F32 {
  using Bits = float;
  static double read(float bits) { return static_cast<double>(bits); }
  static float write(double value) { return static_cast<float>(value); }
};
struct F16 {
  using Bits = std::uint16_t;
  static double read(std::uint16_t bits) { return stencil::float_from_half(bits); }
  static std::uint16_t write(double value) { return stencil::to_half(static_cast<float>(value)); }
};
struct BF16 {
  using Bits = std::uint16_t;
  static double read(std::uint16_t bits) { return stencil::float_from_bf16(bits); }
  static std::uint16_t write(double value) { return stencil::to_bf16(static_cast<float>(value)); }
};

[[nodiscard]] inline bool is_float(std::string_view dtype) {
  return dtype == "F32" || dtype == "F64" || dtype == "F16" || dtype == "BF16";
}

/// Calls visit() with the type of that name, one for which is_float() holds.
template <typename Visit>
auto with_type(std::string_view dtype, Visit visit) {
  if (dtype == "F64") return visit(F64{});
  if (dtype == "F16") return visit(F16{});
  if (dtype == "BF16") return visit(BF16{});
  return visit(F32{});
}

/// Element `i` of a tensor at any alignment.
template <typename Type>
[[nodiscard]] double element(std::span<const std::byte> bytes, std::size_t i) {
  typename Type::Bits bits;
  std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
  return Type::read(bits);
}
template <typename Type>
void set_element(std::span<std::byte> bytes, std::size_t i, double value) {
  const typename Type::Bits bits = Type::write(value);
  std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
}
template <typename Type>
[[nodiscard]] std::size_t elements(std::span<const std::byte> bytes) {
  return bytes.size() / sizeof(typename Type::Bits);
}

}  // namespace fast
