#include "stencil/codec/residue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "stencil/core/float_bits.h"

// Compiled once for each instruction set; the best that the processor has is chosen when called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/codec/residue.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::residue {
namespace HWY_NAMESPACE {

/// The smallest step, in binades below the block's largest value. With a smaller step a multiple
/// would not be an exact float.
constexpr int kFinest = 21;
/// The largest exponent of a step. With a larger step, read() could produce infinities.
constexpr int kCoarsest = 240;
/// Adding this to a float rounds it to an integer, which is then in the last bits of the sum.
constexpr float kNoFraction = 0x1.8p23F;
constexpr int kHalf = 8;
/// Bound of a multiple's part above its residue, in wraps of 16.
constexpr float kMostWraps = 0x1p20F;

/// The offset of a block's residues, without the byte that nibbles.h counts.
constexpr std::size_t kHead = kChecksum;
constexpr std::size_t block_size(std::size_t n) {
  return kHead + nibbles::block_size(n);
}

/// 2^(exponent - 127), for an exponent of 1 .. 254.
inline float step_of(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23);
}
inline float inverse_of(int exponent) {
  return step_of(254 - exponent);
}

/// The exponent of the step for a block whose largest magnitude has the exponent `of_largest`. The
/// step may exceed that magnitude: the other end's values may be the larger ones.
inline int exponent_for(float distance, std::uint32_t of_largest) {
  const int wished = static_cast<int>(std::bit_cast<std::uint32_t>(distance) >> 23) - 1;
  return std::min(std::max({wished, static_cast<int>(of_largest) - kFinest, 1}), kCoarsest);
}

/// The checksum's factors, as residue.h gives them.
constexpr std::array<std::uint32_t, kBlock> kFactors = [] {
  std::array<std::uint32_t, kBlock> factors{};
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    std::uint32_t h = (i + 1) * 0x9e3779b1U;
    h = (h ^ h >> 16U) * 0x85ebca6bU;
    h = (h ^ h >> 13U) * 0xc2b2ae35U;
    factors[i] = (h ^ h >> 16U) | 1U;
  }
  return factors;
}();

inline std::uint32_t checksum_in(const unsigned char* block) {
  return block[1] | static_cast<std::uint32_t>(block[2]) << 8U;
}

// Every loop runs over all 64 values without a branch, so that it vectorises.

bool write_block(const float* __restrict values, float distance, std::size_t n,
                 unsigned char* out) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & ~kFloatSign);
  }
  const int exponent = exponent_for(distance, largest >> 23);
  const float inverse = inverse_of(exponent);
  nibbles::Values residues;
  std::uint32_t checksum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto rounded = std::bit_cast<std::uint32_t>(values[i] * inverse + kNoFraction) -
                         std::bit_cast<std::uint32_t>(kNoFraction);
    residues[i] = static_cast<unsigned char>(rounded & 15U);
    checksum += (rounded >> 4U) * kFactors[i];
  }
  nibbles::pack(residues, n, out + kHead);
  out[0] = static_cast<unsigned char>(exponent);
  out[1] = static_cast<unsigned char>(checksum);
  out[2] = static_cast<unsigned char>(checksum >> 8U);
  return largest < kFloatExponent;
}

bool read_block(const unsigned char* in, std::size_t n, float* __restrict values) {
  if (in[0] < 1 || in[0] > kCoarsest) return false;
  nibbles::Values residues;
  nibbles::unpack(in + kHead, n, residues);
  const float step = step_of(in[0]), inverse = inverse_of(in[0]);
  std::array<float, kBlock> read;
  std::uint32_t marks = 0, checksum = 0, largest = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto residue = static_cast<float>(residues[i]);
    const float wraps = std::rint((values[i] * inverse - residue) * (1.0F / 16));
    // Beyond these bounds a float need not be the exact multiple. Every correct multiple lies
    // within.
    const float bounded = std::min(std::max(wraps, -kMostWraps), kMostWraps);
    checksum += static_cast<std::uint32_t>(static_cast<std::int32_t>(bounded)) * kFactors[i];
    largest = std::max(largest, std::bit_cast<std::uint32_t>(bounded) & ~kFloatSign);
    read[i] = (16 * wraps + residue) * step;
    marks |= non_finite_mark(std::bit_cast<std::uint32_t>(read[i]));
  }
  const bool right =
      largest < std::bit_cast<std::uint32_t>(kMostWraps) && (checksum & 0xffffU) == checksum_in(in);
  if (!right) read.fill(std::numeric_limits<float>::quiet_NaN());
  std::copy_n(read.begin(), kBlock, values);
  return !right || all_finite(marks);
}

bool subtract_block(const unsigned char* theirs, const unsigned char* ours, std::size_t n,
                    float* __restrict differences) {
  const int theirs_step = theirs[0], ours_step = ours[0];
  const int finer = std::min(theirs_step, ours_step), coarser = std::max(theirs_step, ours_step);
  if (finer < 1 || coarser > kCoarsest) return false;
  // Up to two binades apart, the coarser residues keep at least one bit and a sign.
  const bool comparable = coarser - finer <= 2;
  const int theirs_shift = comparable ? theirs_step - finer : 0;
  const int ours_shift = comparable ? ours_step - finer : 0;
  nibbles::Values a, b;
  nibbles::unpack(theirs + kHead, n, a);
  nibbles::unpack(ours + kHead, n, b);
  std::array<std::int32_t, kBlock> steps;
  std::uint32_t checksum = 0, half_way = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const int residues = (a[i] << theirs_shift) - (b[i] << ours_shift);
    const int difference = residues & 15;
    steps[i] = (difference ^ kHalf) - kHalf;
    // steps = residues + 16 * wraps, where wraps are theirs minus ours.
    const int wraps = (steps[i] - residues) / 16;
    // Half way between two multiples the sign is ambiguous: the other end would take the same one.
    half_way |= static_cast<std::uint32_t>(difference == kHalf);
    checksum += static_cast<std::uint32_t>(wraps) * kFactors[i];
  }
  const std::uint32_t expected =
      (checksum_in(theirs) << theirs_shift) - (checksum_in(ours) << ours_shift);
  const bool right = comparable && half_way == 0 && ((checksum ^ expected) & 0xffffU) == 0;
  const float step = right ? step_of(finer) : std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < kBlock; ++i) differences[i] = static_cast<float>(steps[i]) * step;
  return true;
}

bool write(const float* values, std::size_t count, const float* distances, unsigned char* out) {
  bool finite = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, out += block_size(kBlock)) {
    finite &= write_block(values, *distances++, kBlock, out);
  }
  if (count == 0) return finite;
  std::array<float, kBlock> rest{};
  std::copy_n(values, count, rest.begin());
  return write_block(rest.data(), *distances, count, out) && finite;
}

bool read(const unsigned char* in, std::size_t count, float* values) {
  bool good = true;
  for (; count >= kBlock; count -= kBlock, values += kBlock, in += block_size(kBlock)) {
    good &= read_block(in, kBlock, values);
  }
  if (count == 0) return good;
  std::array<float, kBlock> rest{};
  std::copy_n(values, count, rest.begin());
  good &= read_block(in, count, rest.data());
  std::copy_n(rest.begin(), count, values);
  return good;
}

bool subtract(const unsigned char* theirs, const unsigned char* ours, std::size_t count,
              float* differences) {
  bool good = true;
  const std::size_t size = block_size(kBlock);
  for (; count >= kBlock; count -= kBlock, differences += kBlock, theirs += size, ours += size) {
    good &= subtract_block(theirs, ours, kBlock, differences);
  }
  if (count == 0) return good;
  std::array<float, kBlock> rest;
  good &= subtract_block(theirs, ours, count, rest.data());
  std::copy_n(rest.begin(), count, differences);
  return good;
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::residue
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil::residue {
HWY_EXPORT(write);
HWY_EXPORT(read);
HWY_EXPORT(subtract);

namespace {

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

float step(std::span<const std::byte> block) {
  return std::bit_cast<float>(std::to_integer<std::uint32_t>(block[0]) << 23U);
}

bool write(std::span<const float> values, std::span<const float> distances,
           std::span<std::byte> out) {
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  return HWY_DYNAMIC_DISPATCH(write)(values.data(), values.size(), distances.data(), bytes);
}

bool read(std::span<const std::byte> in, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(read)(raw(in), values.size(), values.data());
}

bool subtract(std::span<const std::byte> theirs, std::span<const std::byte> ours,
              std::span<float> differences) {
  return HWY_DYNAMIC_DISPATCH(subtract)(raw(theirs), raw(ours), differences.size(),
                                        differences.data());
}

}  // namespace stencil::residue

#endif  // HWY_ONCE
