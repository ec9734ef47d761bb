#include "stencil/codec/top_k.h"

#include "stencil/codec/float_bits.h"

namespace stencil {

bool Part::all_finite() const {
  std::uint32_t marks = 0;
  for (std::size_t j = 0; j < size_; ++j) {
    marks |= non_finite_mark(load_little_endian<std::uint32_t>(values_ + 4 * j));
  }
  return stencil::all_finite(marks);
}

std::optional<Part> Part::read(std::span<const std::byte> offer, std::size_t floats) {
  if (offer.size() < 4) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(offer.data());
  const std::size_t size = (offer.size() - 4) / 8;
  Part part(bytes + 4, bytes + 4 + 4 * size, size);
  part.turn_ = load_little_endian<std::uint32_t>(bytes);
  if (part.turn_ >= floats) return std::nullopt;
  std::size_t next = 0;
  for (std::size_t j = 0; j < size; ++j) {
    const std::uint32_t index = part.index(j);
    if (index < next || index >= floats) return std::nullopt;
    next = std::size_t{index} + 1;
  }
  return part.all_finite() ? std::optional(part) : std::nullopt;
}

std::optional<Part> Part::whole(std::span<const std::byte> offer) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(offer.data());
  const Part part(nullptr, bytes, offer.size() / 4);
  return part.all_finite() ? std::optional(part) : std::nullopt;
}

}  // namespace stencil
