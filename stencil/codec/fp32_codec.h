#pragma once

#include <bit>

#include "stencil/codec/codec.h"

namespace stencil {

/// The values as they are: IEEE 754 binary32, little-endian.
class Fp32Codec final : public Codec {
 public:
  [[nodiscard]] bool is_identity() const override {
    return std::endian::native == std::endian::little;
  }
  [[nodiscard]] std::size_t encoded_size(std::size_t floats) const override;
  [[nodiscard]] bool encode(std::span<const float> values, std::span<std::byte> out) const override;
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<float> out) const override;
};

}  // namespace stencil
