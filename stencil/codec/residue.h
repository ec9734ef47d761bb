#pragma once

#include <cstddef>
#include <span>

#include "stencil/codec/nibbles.h"

/// Offers of codec int4. The reader holds nearly the same values as the writer, so the last four
/// bits of each are enough. The writer rounds a value to a multiple of its block's step and sends
/// that multiple modulo 16. The reader takes the multiple with this residue that is nearest to its
/// own value. The result is right to half a step where the two values are less than 7.5 steps
/// apart. Modulo arithmetic for gossip is that of Moniqua (Lu and De Sa 2020), which takes one
/// bound of the distance for a whole run. Here each block's step follows the distance last seen in
/// that block (see mix/codecs/residues.h), and a checksum detects a block that was further apart.
/// Such a block is not applied: wrong values would move workers apart, and so make the next values
/// wrong too.
///
///   block   := step  checksum (u16, little-endian)  residue (4 bits) x 1 .. 64, see nibbles.h
///   step    := exponent of the block's step, in a float's bias (1 byte)
///   checksum:= sum over i of floor(multiple i / 16) * factor i, modulo 2^16
///   factor i:= h ^ h >> 16 | 1, h := (g ^ g >> 13) * 0xc2b2ae35, g := (f ^ f >> 16) * 0x85ebca6b,
///              f := (i + 1) * 0x9e3779b1, all modulo 2^32 (the finaliser of MurmurHash3)
///
/// The checksum covers what residues leave out, so a block that was read wrongly passes once in
/// 2^16. It is linear, so that two offers can be compared without knowing their multiples. The
/// factors are hashes: of factors in proportion to i, the most common error, a few values that are
/// one wrap off in both directions, is often not seen.
namespace stencil::residue {

/// Values that share a step.
inline constexpr std::size_t kBlock = nibbles::kBlock;

/// Bytes of a block beside those of nibbles.h.
inline constexpr std::size_t kChecksum = 2;

[[nodiscard]] constexpr std::size_t size(std::size_t floats) {
  return nibbles::size(floats) + kChecksum * ((floats + kBlock - 1) / kBlock);
}

/// The step of a block that was accepted by read() or subtract().
[[nodiscard]] float step(std::span<const std::byte> block);

/// Writes `values` into `out` (exactly size() bytes). `distances` holds one number for each
/// block: the expected distance of the two ends, which may be up to about twice that. A step is a
/// quarter to a half of it, or the nearest step whose multiples are exact floats. Returns false
/// where a value is NaN or infinite; then nothing may be sent.
[[nodiscard]] bool write(std::span<const float> values, std::span<const float> distances,
                         std::span<std::byte> out);

/// Replaces each of `values` by the writer's rounded value. Where a block's checksum shows that the
/// two ends are too far apart, the values of that block become NaN. Returns false where write()
/// never sends such a step or a value read is not finite; `values` is then unspecified.
[[nodiscard]] bool read(std::span<const std::byte> in, std::span<float> values);

/// For two offers that crossed: writes theirs minus ours into `differences`, as both payloads tell
/// it.
/// The other end computes the exact negative. Blocks whose values or steps are too far apart become
/// NaN at both ends alike. Returns false as read() does.
[[nodiscard]] bool subtract(std::span<const std::byte> theirs, std::span<const std::byte> ours,
                            std::span<float> differences);

}  // namespace stencil::residue
