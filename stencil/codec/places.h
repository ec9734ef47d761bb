#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "stencil/codec/byte_order.h"

namespace stencil {

/// Codes increasing numbers below a limit (Elias-Fano: Elias 1974, Fano 1971). The limit and the
/// count determine the size. The `low` lowest bits of each number are stored as they are; the
/// remaining high bits are stored as differences from the number before, in unary. A number takes
/// log2(limit / count) + 2 bits, half a bit above the information-theoretic bound.
///
///   places := lowest bits x count, rest x count             both padded with 0 to whole bytes
///
/// The first bit of a byte is its lowest. Value type.
struct Places {
  std::size_t limit = 0, count = 0;

  /// With more low bits, a number would need more bytes than are loaded at once.
  static constexpr int kWidest = 24;

  [[nodiscard]] int low_bits() const {
    if (count == 0 || limit < 2 * count) return 0;
    const int bits = static_cast<int>(std::bit_width(limit / count)) - 1;
    return bits < kWidest ? bits : kWidest;
  }
  [[nodiscard]] std::size_t low_bytes() const {
    return (count * static_cast<std::size_t>(low_bits()) + 7) / 8;
  }
  [[nodiscard]] std::size_t rest_bytes() const {
    return count == 0 ? 0 : (count + ((limit - 1) >> low_bits()) + 7) / 8;
  }
  [[nodiscard]] std::size_t bytes() const { return low_bytes() + rest_bytes(); }
};

/// Writes the numbers one after the other into places.bytes() bytes.
class PlaceWriter {
 public:
  PlaceWriter(Places places, unsigned char* out);
  /// `place` is larger than the one before and below the limit. Call it places.count times.
  void add(std::uint32_t place) {
    const std::uint32_t lowest = place & ((1U << low_bits_) - 1U);
    for (std::size_t bit = added_ * static_cast<std::size_t>(low_bits_), left = lowest;
         left != 0;) {
      low_[bit / 8] |= static_cast<unsigned char>(left << (bit % 8));
      left >>= 8 - bit % 8;
      bit += 8 - bit % 8;
    }
    const std::size_t at = (place >> low_bits_) + added_++;
    rest_[at / 8] |= static_cast<unsigned char>(1U << (at % 8));
  }

 private:
  int low_bits_;
  unsigned char* low_;
  unsigned char* rest_;
  std::size_t added_ = 0;
};

/// Reads the numbers one after the other. It may read four bytes beyond those of the places.
class PlaceReader {
 public:
  PlaceReader(Places places, const unsigned char* in)
      : low_bits_(places.low_bits()), low_(in), rest_(in + places.low_bytes()) {}

  /// Call it at most places.count times, on bytes that are well_formed().
  std::uint32_t next() {
    while (word_ == 0) word_ = rest_[byte_++];
    const auto at = 8 * (byte_ - 1) + static_cast<std::size_t>(std::countr_zero(word_));
    word_ &= word_ - 1;
    const std::size_t bit = read_ * static_cast<std::size_t>(low_bits_);
    const std::uint32_t lowest =
        (load_little_endian<std::uint32_t>(low_ + bit / 8) >> (bit % 8)) & ((1U << low_bits_) - 1U);
    return static_cast<std::uint32_t>((at - read_++) << low_bits_) | lowest;
  }

 private:
  int low_bits_;
  const unsigned char* low_;
  const unsigned char* rest_;
  std::size_t byte_ = 0, read_ = 0;
  unsigned word_ = 0;
};

/// Whether a PlaceWriter can have written these bytes: increasing numbers below the limit.
[[nodiscard]] bool well_formed(Places places, const unsigned char* in);

}  // namespace stencil
