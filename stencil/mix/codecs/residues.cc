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

/// Notes that the two ends were at most `now` apart. `held` grows at once and shrinks by an eighth
/// at a time, since exchanges soon after a step find neighbours further apart than later ones.
void note(float& held, float now) {
  held = std::max(now, held * 0.875F);
}

/// What is expected where `n` of our values from `begin` on could not be read: four times as much.
/// Without a word from the other end this stops at 16 times the largest of them, or a block of
/// zeros at both ends, which looks the same, would grow for ever.
float grown(float held, const BucketValues& ours, std::size_t begin, std::size_t n) {
  float largest = 0;
  for (std::size_t i = begin; i < begin + n; ++i) {
    largest = std::max(largest, std::abs(ours.y[i] + ours.p[i]));
  }
  return std::min(4 * held, std::max(held, 16 * largest));
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

/// Notes that `n` values from `begin` on differ from the neighbour's by `scale` times `d`. A block
/// whose differences are all 0 was not read: values that are read differ at least by rounding.
void note(std::span<float> known, const BucketValues& ours, std::size_t begin, const float* d,
          std::size_t n, float scale) {
  for (std::size_t from = 0; from < n; from += residue::kBlock) {
    const std::size_t size = std::min(residue::kBlock, n - from);
    std::uint32_t largest = 0;
    for (std::size_t i = from; i < from + size; ++i) {
      largest = std::max(largest, std::bit_cast<std::uint32_t>(d[i]) & ~kFloatSign);
    }
    float& held = known[(begin + from) / residue::kBlock];
    if (largest > 0) {
      note(held, scale * std::bit_cast<float>(largest));
    } else {
      held = grown(held, ours, begin + from, size);
    }
  }
}

/// The same for offers that crossed. Both were rounded, so they may well be equal. Blocks that
/// could not be read become 0, and what the other end expects there is taken over: steps that are
/// too far apart to be compared would else stay so.
void note_crossed(std::span<float> known, const BucketValues& ours, std::size_t begin,
                  std::span<float> apart, const CodedOffer& theirs) {
  for (std::size_t from = 0; from < apart.size(); from += residue::kBlock) {
    float& held = known[(begin + from) / residue::kBlock];
    const auto block = apart.subspan(from, std::min(residue::kBlock, apart.size() - from));
    if (std::isnan(block[0])) {
      std::ranges::fill(block, 0.0F);
      held = grown(held, ours, begin + from, block.size());
      if (theirs.exact) continue;
      held = std::max(held, 8 * residue::step(part(theirs, begin + from, block.size())));
    } else {
      float furthest = std::numeric_limits<float>::min();
      for (const float value : block) furthest = std::max(furthest, std::abs(value));
      note(held, furthest);
    }
  }
}

/// The values that `residues` show near the exact ones, minus the exact ones; at most one block.
bool subtract_exact(std::span<const std::byte> residues, std::span<const std::byte> exact,
                    std::span<float> apart) {
  Block near;
  if (!Fp32Codec().decode(exact, {near.data(), apart.size()})) return false;
  std::copy_n(near.begin(), apart.size(), apart.begin());
  if (!residue::read(residues, apart)) return false;
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= near[i];
  return true;
}

/// Writes theirs minus ours into `apart`, as both offers tell it; the other end computes the
/// negative. Blocks that cannot be compared become NaN. Returns false where an offer is malformed.
bool subtract(const CodedOffer& theirs, const CodedOffer& ours, std::size_t begin,
              std::span<float> apart) {
  const auto a = part(theirs, begin, apart.size()), b = part(ours, begin, apart.size());
  if (!theirs.exact && !ours.exact) return residue::subtract(a, b, apart);
  if (ours.exact) return subtract_exact(a, b, apart);
  if (!subtract_exact(b, a, apart)) return false;
  for (float& value : apart) value = -value;
  return true;
}

}  // namespace

ResidueEdgeCodec::ResidueEdgeCodec(CodecNumber number, const Layout& layout,
                                   std::span<const float> initial)
    : number_(number),
      blocks_((layout.bucket_floats() + residue::kBlock - 1) / residue::kBlock),
      apart_(blocks_ * layout.bucket_count(), 0x1p-20F) {
  for (std::uint32_t b = 0; b < layout.bucket_count() && !initial.empty(); ++b) {
    const BucketRange range = layout.bucket(b);
    for (std::size_t i = 0; i < range.size; ++i) {
      float& held = apart(b)[i / residue::kBlock];
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
  const std::span<const float> known = apart(ours.bucket);
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
  const std::span<float> known = apart(ours.bucket);
  Outcome outcome;
  Outgoing d(differences_, reply);
  const float beta = 1.0F / static_cast<float>(divisor);
  Block theirs;
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= kernels::sum(y + begin, p + begin, theirs.data(), n) &&
                      residue::read(part(offer, begin, n), {theirs.data(), n});
    const kernels::Sums sums =
        kernels::difference(theirs.data(), y + begin, p + begin, beta, d.room(begin), n);
    outcome.distance2 += sums.distance2;
    outcome.norm2 += sums.norm2;
    outcome.finite &= sums.finite;
    if (!outcome.finite) return;
    note(known, ours, begin, d.room(begin), n, static_cast<float>(divisor));
    outcome.finite &= d.write(begin, n);
  });
  if (!outcome.finite) return outcome;
  Incoming sent(differences_, reply);
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    kernels::add(sent.block(begin, n), p + begin, n);
  });
  return outcome;
}

Outcome ResidueEdgeCodec::settle(BucketValues ours, std::span<const std::byte> /*offer*/,
                                 std::span<const std::byte> reply, int divisor) {
  const std::span<float> known = apart(ours.bucket);
  Outcome outcome;
  Incoming delta(differences_, reply);
  outcome.finite = delta.all_finite(ours.p.size());
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    const float* const block = delta.block(begin, n);
    outcome.distance2 += kernels::subtract(block, &ours.p[begin], n);
    note(known, ours, begin, block, n, static_cast<float>(divisor));
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

Outcome ResidueEdgeCodec::merge(BucketValues ours, CodedOffer offered, CodedOffer theirs) {
  const std::span<float> known = apart(ours.bucket);
  Outcome outcome;
  Block d;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= subtract(theirs, offered, begin, {d.data(), n});
  });
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    (void)subtract(offered, theirs, begin, {d.data(), n});
    note_crossed(known, ours, begin, {d.data(), n}, theirs);
    for (std::size_t i = 0; i < n; ++i) d[i] *= 0.5F;
    outcome.distance2 += 4 * kernels::subtract(d.data(), &ours.p[begin], n);
  });
  return outcome;
}

}  // namespace stencil
