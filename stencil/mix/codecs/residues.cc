#include "stencil/mix/codecs/residues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stencil/codec/fp32_codec.h"
#include "stencil/codec/residue.h"
#include "stencil/core/float_bits.h"
#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

using edge_delta::Outcome;

static_assert(kBlockFloats % residue::kBlock == 0);

constexpr float kFurthest = 0x1p100F;

/// The exponent of a reply's block that was not read. IntCodec writes none below 3 for 4 bits and
/// takes this one for that: the block's values are 0.
constexpr std::byte kNotRead{0};

/// Notes that the two ends were at most `now` apart. `held` grows at once and shrinks by an eighth
/// at a time, since exchanges soon after a step find neighbours further apart than later ones.
void note(float& held, float now) {
  held = std::max({now, held * 0.875F, std::numeric_limits<float>::min()});
}

/// Notes that an offer with this step was too fine: the next has a step of four times that. Where
/// offers crossed, the coarser step counts at both ends, or steps that are too far apart to be
/// compared would stay so.
void note_not_read(float& held, float step) {
  held = std::min(4 * std::max(held, 2 * step), kFurthest);
}

float largest(std::span<const float> values) {
  std::uint32_t bits = 0;
  for (const float value : values) {
    bits = std::max(bits, std::bit_cast<std::uint32_t>(value) & ~kFloatSign);
  }
  return std::bit_cast<float>(bits);
}

/// Calls visit(from, size) for each block of residues in `n` values.
template <typename Visit>
void for_residues(std::size_t n, const Visit& visit) {
  for (std::size_t from = 0; from < n; from += residue::kBlock) {
    visit(from, std::min(residue::kBlock, n - from));
  }
}

/// The residues of `n` values from `begin` on.
template <typename Byte>
std::span<Byte> part(std::span<Byte> bytes, std::size_t begin, std::size_t n) {
  return bytes.subspan(residue::size(begin), residue::size(n));
}

std::span<const std::byte> part(const CodedOffer& offer, std::size_t begin, std::size_t n) {
  return offer.exact ? offer.bytes.subspan(begin * sizeof(float), n * sizeof(float))
                     : part(offer.bytes, begin, n);
}

/// The step of the block at `begin`, or 0 in an exact offer, which has none.
float step_in(const CodedOffer& offer, std::size_t begin) {
  return offer.exact ? 0 : residue::step(part(offer.bytes, begin, 1));
}

/// Notes how far apart offers that crossed were. Blocks that could not be read become 0.
void note_crossed(std::span<float> known, std::size_t begin, std::span<float> differences,
                  const CodedOffer& ours, const CodedOffer& theirs) {
  for_residues(differences.size(), [&](std::size_t from, std::size_t size) {
    float& held = known[(begin + from) / residue::kBlock];
    const auto block = differences.subspan(from, size);
    if (!std::isnan(block[0])) return note(held, largest(block));
    std::ranges::fill(block, 0.0F);
    note_not_read(held, std::max(step_in(ours, begin + from), step_in(theirs, begin + from)));
  });
}

/// The values that `residues` show near the exact ones, minus the exact ones; at most one block.
bool subtract_exact(std::span<const std::byte> residues, std::span<const std::byte> exact,
                    std::span<float> differences) {
  Block near;
  if (!Fp32Codec().decode(exact, {near.data(), differences.size()})) return false;
  std::copy_n(near.begin(), differences.size(), differences.begin());
  if (!residue::read(residues, differences)) return false;
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= near[i];
  return true;
}

/// Writes theirs minus ours into `differences`, as both offers tell it; the other end computes the
/// negative. Blocks that cannot be compared become NaN. Returns false where an offer is malformed.
bool subtract(const CodedOffer& theirs, const CodedOffer& ours, std::size_t begin,
              std::span<float> differences) {
  const auto a = part(theirs, begin, differences.size()), b = part(ours, begin, differences.size());
  if (!theirs.exact && !ours.exact) return residue::subtract(a, b, differences);
  if (ours.exact) return subtract_exact(a, b, differences);
  if (!subtract_exact(b, a, differences)) return false;
  for (float& value : differences) value = -value;
  return true;
}

}  // namespace

std::size_t ResidueEdgeCodec::blocks_of(const Layout& layout) {
  return (layout.bucket_floats() + residue::kBlock - 1) / residue::kBlock;
}

ResidueEdgeCodec::ResidueEdgeCodec(CodecNumber number, const Layout& layout,
                                   std::span<const float> initial)
    : number_(number),
      blocks_(blocks_of(layout)),
      distances_(blocks_ * layout.bucket_count(), 0x1p-20F),
      found_(blocks_) {
  for (std::uint32_t b = 0; b < layout.bucket_count() && !initial.empty(); ++b) {
    const BucketRange range = layout.bucket(b);
    for (std::size_t i = 0; i < range.size; ++i) {
      float& held = distances(b)[i / residue::kBlock];
      held = std::max(held, 0x1p-10F * std::abs(initial[range.begin + i]));
    }
  }
}

CodedForm ResidueEdgeCodec::offer_form(std::size_t floats) const {
  return {number_, residue::size(floats)};
}

CodedForm ResidueEdgeCodec::reply_form(std::size_t floats) const {
  return {number_, differences_.encoded_size(floats)};
}

Outcome ResidueEdgeCodec::offer(BucketValues ours, std::span<std::byte> out) {
  const std::span<const float> known = distances(ours.bucket);
  Outcome outcome;
  Block z;
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &=
        kernels::sum(&ours.y[begin], &ours.p[begin], z.data(), n) &&
        residue::write({z.data(), n}, known.subspan(begin / residue::kBlock), part(out, begin, n));
  });
  return outcome;
}

Outcome ResidueEdgeCodec::answer(BucketValues ours, std::span<const std::byte> offer, int divisor,
                                 std::span<std::byte> reply) {
  const float* const y = ours.y.data();
  float* const p = ours.p.data();
  const std::span<float> known = distances(ours.bucket);
  Outcome outcome;
  Outgoing d(differences_, reply);
  const float beta = 1.0F / static_cast<float>(divisor);
  Block theirs;
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= kernels::sum(y + begin, p + begin, theirs.data(), n) &&
                      residue::read(part(offer, begin, n), {theirs.data(), n});
    std::array<bool, kBlockFloats / residue::kBlock> is_read;
    for_residues(n, [&](std::size_t from, std::size_t size) {
      float* const block = &theirs[from];
      is_read[from / residue::kBlock] = !std::isnan(*block);
      if (std::isnan(*block)) (void)kernels::sum(y + begin + from, p + begin + from, block, size);
    });
    const kernels::Sums sums =
        kernels::difference(theirs.data(), y + begin, p + begin, beta, d.space(begin), n);
    outcome.distance2 += sums.distance2;
    outcome.norm2 += sums.norm2;
    outcome.finite &= sums.finite;
    outcome.finite = outcome.finite && d.write(begin, n);
    if (!outcome.finite) return;
    const float* const moved = d.space(begin);
    for_residues(n, [&](std::size_t from, std::size_t size) {
      float& found = found_[(begin + from) / residue::kBlock];
      if (is_read[from / residue::kBlock]) {
        found = static_cast<float>(divisor) * largest({moved + from, size});
      } else {
        found = -residue::step(part(offer, begin + from, size));
        reply[differences_.encoded_size(begin + from)] = kNotRead;
      }
    });
  });
  if (!outcome.finite) return outcome;
  for_residues(ours.y.size(), [&](std::size_t from, std::size_t) {
    float& held = known[from / residue::kBlock];
    const float found = found_[from / residue::kBlock];
    if (std::signbit(found)) {
      note_not_read(held, -found);
    } else {
      note(held, found);
    }
  });
  Incoming sent(differences_, reply);
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    kernels::add(sent.block(begin, n), p + begin, n);
  });
  return outcome;
}

Outcome ResidueEdgeCodec::complete(BucketValues ours, std::span<const std::byte> offer,
                                   std::span<const std::byte> reply, int divisor) {
  const std::span<float> known = distances(ours.bucket);
  Outcome outcome;
  Incoming delta(differences_, reply);
  outcome.finite = delta.all_finite(ours.p.size());
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    const float* const block = delta.block(begin, n);
    outcome.distance2 += kernels::subtract(block, &ours.p[begin], n);
    for_residues(n, [&](std::size_t from, std::size_t size) {
      float& held = known[(begin + from) / residue::kBlock];
      if (reply[differences_.encoded_size(begin + from)] == kNotRead) {
        note_not_read(held, residue::step(part(offer, begin + from, size)));
      } else {
        note(held, static_cast<float>(divisor) * largest({block + from, size}));
      }
    });
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

Outcome ResidueEdgeCodec::merge(BucketValues ours, CodedOffer offered, CodedOffer theirs) {
  const std::span<float> known = distances(ours.bucket);
  Outcome outcome;
  Block d;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= subtract(theirs, offered, begin, {d.data(), n});
  });
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    (void)subtract(offered, theirs, begin, {d.data(), n});
    note_crossed(known, begin, {d.data(), n}, offered, theirs);
    for (std::size_t i = 0; i < n; ++i) d[i] *= 0.5F;
    outcome.distance2 += 4 * kernels::subtract(d.data(), &ours.p[begin], n);
  });
  return outcome;
}

}  // namespace stencil
