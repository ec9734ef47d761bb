#pragma once

#include <cstddef>
#include <span>

namespace stencil {

/// Values are coded in blocks of this many; see Codec::encoded_size().
inline constexpr std::size_t kCodecBlock = 1024;

/// Floats <-> bytes of one bucket. Stateless, so one instance serves all threads.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Whether encode() writes the values exactly as they lie in this machine's memory. Then callers
  /// may read and write a payload as floats, without encode() and decode().
  [[nodiscard]] virtual bool is_identity() const { return false; }

  /// Bytes that encode() writes for `floats` values; 0 for none. Parts that begin at multiples of
  /// kCodecBlock are coded independently: encode() of the whole writes the bytes of encode() of its
  /// parts, one after the other.
  [[nodiscard]] virtual std::size_t encoded_size(std::size_t floats) const = 0;

  /// Writes `values` little-endian into `out` (exactly encoded_size bytes). Saturates: a finite
  /// value never becomes an infinity. Returns false when any value is NaN or infinite (`out` is
  /// then unspecified and must not be sent).
  [[nodiscard]] virtual bool encode(std::span<const float> values,
                                    std::span<std::byte> out) const = 0;

  /// The inverse; `in` holds exactly encoded_size(out.size()) bytes. Returns false when any value
  /// read is NaN or infinite.
  [[nodiscard]] virtual bool decode(std::span<const std::byte> in, std::span<float> out) const = 0;
};

}  // namespace stencil
