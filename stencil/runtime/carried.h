#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stencil {

/// What a newcomer takes over with the initial weights, and nobody averages: the bytes of frozen
/// parameters, buffers and masks, end to end, in chunks. A copy, so that the training thread's
/// arrays may change and move. The background thread calls copy(), take() and discard(); the
/// training thread calls taken(), while its worker adopts nothing.
class Carried {
 public:
  Carried() = default;
  /// `chunk`: bytes of each but the last; 1 or more.
  Carried(std::vector<std::byte> bytes, std::size_t chunk);

  [[nodiscard]] std::uint32_t chunks() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }  ///< of all chunks
  /// Bytes of chunk `index`, which is one of chunks().
  [[nodiscard]] std::size_t size(std::uint32_t index) const { return place(index).size(); }

  /// Writes a chunk to `out`, of its size.
  void copy(std::uint32_t index, std::span<std::byte> out) const;
  /// Takes a neighbour's chunk, of its size.
  void take(std::uint32_t index, std::span<const std::byte> chunk);
  /// A copy was broken off: the chunk is what it was when taken() was last called.
  void discard(std::uint32_t index);

  /// All bytes, where any have been taken since the last call.
  [[nodiscard]] std::optional<std::span<const std::byte>> taken();

 private:
  [[nodiscard]] std::span<const std::byte> place(std::uint32_t index) const;
  [[nodiscard]] std::span<std::byte> place(std::uint32_t index);

  std::vector<std::byte> bytes_;
  std::vector<std::byte> before_;  ///< while a copy is in progress
  std::size_t chunk_ = 1;
};

}  // namespace stencil
