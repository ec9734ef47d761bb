#include "stencil/runtime/carried.h"

#include <algorithm>
#include <utility>

namespace stencil {

Carried::Carried(std::vector<std::byte> bytes, std::size_t chunk)
    : bytes_(std::move(bytes)), chunk_(std::max<std::size_t>(chunk, 1)) {}

std::uint32_t Carried::chunks() const {
  return static_cast<std::uint32_t>((bytes_.size() + chunk_ - 1) / chunk_);
}

std::span<const std::byte> Carried::place(std::uint32_t index) const {
  const std::size_t first = index * chunk_;
  return std::span(bytes_).subspan(first, std::min(chunk_, bytes_.size() - first));
}

std::span<std::byte> Carried::place(std::uint32_t index) {
  const std::size_t first = index * chunk_;
  return std::span(bytes_).subspan(first, std::min(chunk_, bytes_.size() - first));
}

void Carried::copy(std::uint32_t index, std::span<std::byte> out) const {
  std::ranges::copy(place(index), out.begin());
}

void Carried::take(std::uint32_t index, std::span<const std::byte> chunk) {
  if (before_.empty()) before_ = bytes_;
  std::ranges::copy(chunk, place(index).begin());
}

void Carried::discard(std::uint32_t index) {
  if (before_.empty()) return;
  const std::span<std::byte> now = place(index);
  std::ranges::copy(std::span(before_).subspan(index * chunk_, now.size()), now.begin());
}

std::optional<std::span<const std::byte>> Carried::taken() {
  if (before_.empty()) return std::nullopt;
  before_ = {};
  return bytes_;
}

}  // namespace stencil
