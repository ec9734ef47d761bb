#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stencil {

/// How a framework stores the numbers of a parameter. The exchange itself computes in float32.
enum class ElementType : std::uint8_t { kF32, kF64, kF16, kBF16 };

/// By safetensors' names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> kElementTypes = {"F32", "F64", "F16", "BF16"};

[[nodiscard]] constexpr std::string_view name(ElementType type) {
  return kElementTypes[static_cast<std::size_t>(type)];
}

/// Nothing for the name of another type.
[[nodiscard]] constexpr std::optional<ElementType> element_type(std::string_view name) {
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) {
    if (kElementTypes[i] == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::size_t element_bytes(ElementType type) {
  constexpr std::array<std::size_t, 4> kBytes = {4, 8, 2, 2};
  return kBytes[static_cast<std::size_t>(type)];
}

/// Whether storing a float as `type` rounds it.
[[nodiscard]] constexpr bool rounds(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16;
}

}  // namespace stencil
