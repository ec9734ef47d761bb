#include "stencil/codec/top_k.h"

#include "stencil/core/float_bits.h"

namespace stencil {

bool Part::all_finite() const {
  std::uint32_t marks = 0;
  for (std::size_t j = 0; j < size(); ++j) {
    marks |= non_finite_mark(load_little_endian<std::uint32_t>(values_ + 4 * j));
  }
  return stencil::all_finite(marks);
}

std::optional<Part> Part::read(std::span<const std::byte> offer, std::size_t floats) {
  if (offer.size() < TopK::kHead) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(offer.data());
  const Places places{floats, load_little_endian<std::uint32_t>(bytes + 4)};
  if (places.count == 0 || places.count > floats ||
      offer.size() != TopK::kHead + places.bytes() + 4 * places.count) {
    return std::nullopt;
  }
  const unsigned char* const at = bytes + TopK::kHead;
  Part part(places, at, at + places.bytes());
  part.turn_ = load_little_endian<std::uint32_t>(bytes);
  if (part.turn_ >= floats || !well_formed(places, at)) return std::nullopt;
  return part.all_finite() ? std::optional(part) : std::nullopt;
}

std::optional<Part> Part::whole(std::span<const std::byte> offer) {
  const std::size_t floats = offer.size() / 4;
  const Part part({floats, floats}, nullptr, reinterpret_cast<const unsigned char*>(offer.data()));
  return part.all_finite() ? std::optional(part) : std::nullopt;
}

PartWriter::PartWriter(std::span<std::byte> offer, std::uint32_t turn, std::size_t floats,
                       std::size_t k)
    : places_({floats, k}, reinterpret_cast<unsigned char*>(offer.data()) + TopK::kHead),
      values_(reinterpret_cast<unsigned char*>(offer.data()) + TopK::kHead +
              Places{floats, k}.bytes()) {
  auto* const bytes = reinterpret_cast<unsigned char*>(offer.data());
  store_little_endian(turn, bytes);
  store_little_endian(static_cast<std::uint32_t>(k), bytes + 4);
}

}  // namespace stencil
