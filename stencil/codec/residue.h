#pragma once

#include <cstddef>
#include <span>

#include "stencil/codec/nibbles.h"

/// Offers of codec int4. Whoever reads them holds nearly the same values, so that the last four
/// bits of each are enough: a value is rounded to a multiple of its block's step, and of that
/// multiple goes the residue modulo 16; the reader takes the one with this residue that is nearest
/// to its own value. That is right to half a step where both are less than 7.5 steps apart. Modulo
/// arithmetic for gossip is that of Moniqua (Lu and De Sa 2020), which takes one bound of the
/// distance for a whole run; here each block's step follows what that block was lately found apart
/// (see mix/codecs/residues.h), and a checksum tells a block that was further apart than that.
/// Applied all the same, wrong values would move workers apart, and so make the next ones wrong.
///
///   block   := step  checksum (u16, little-endian)  residue (4 bits) x 1 .. 64, see nibbles.h
///   step    := exponent of the block's step, in a float's bias (1 byte)
///   checksum:= sum over i of multiple i, times (0x9e3779b1 i | 1), modulo 2^16
///
/// The checksum is linear, so that two offers can be compared whose multiples nobody knows.
namespace stencil::residue {

/// Values that share a step.
inline constexpr std::size_t kBlock = nibbles::kBlock;

/// Bytes of a block beside those of nibbles.h.
inline constexpr std::size_t kChecksum = 2;

[[nodiscard]] constexpr std::size_t size(std::size_t floats) {
  return nibbles::size(floats) + kChecksum * ((floats + kBlock - 1) / kBlock);
}

/// `values` into `out` (exactly size() bytes); both ends are expected to be less than about twice
/// `apart` from each other, of which there is one for each block: a step is a quarter to a half of
/// that, or the nearest where multiples of that would not be floats exactly, or it would be more
/// than the largest value. False where a value is NaN or infinite: nothing may be sent.
[[nodiscard]] bool write(std::span<const float> values, std::span<const float> apart,
                         std::span<std::byte> out);

/// Replaces each of `values` by what `in` shows near to it; where a block's checksum tells that
/// both ends are too far apart for that, its values stay as they are. False where a step is none
/// that write() sends, or what was read is not finite; then nothing of it is good.
[[nodiscard]] bool read(std::span<const std::byte> in, std::span<float> values);

/// Two offers that crossed: theirs less ours into `apart`, as far as both ends know it, which is
/// the exact negative at the other end. NaN in blocks that are too far apart, or whose steps are,
/// at both ends alike. False as in read().
[[nodiscard]] bool subtract(std::span<const std::byte> theirs, std::span<const std::byte> ours,
                            std::span<float> apart);

}  // namespace stencil::residue
