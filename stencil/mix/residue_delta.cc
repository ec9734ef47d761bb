#include "stencil/mix/residue_delta.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stencil/codec/float_bits.h"
#include "stencil/codec/fp32_codec.h"
#include "stencil/codec/residue.h"
#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil {

Spread::Spread(const Layout& layout, std::span<const float> initial)
    : blocks_((layout.bucket_floats() + residue::kBlock - 1) / residue::kBlock),
      apart_(blocks_ * layout.bucket_count(), 0x1p-20F) {
  for (std::uint32_t b = 0; b < layout.bucket_count(); ++b) {
    const BucketRange range = layout.bucket(b);
    for (std::size_t i = 0; i < range.size; ++i) {
      float& held = bucket(b)[i / residue::kBlock];
      held = std::max(held, 0x1p-10F * std::abs(initial[range.begin + i]));
    }
  }
}

namespace residue_delta {
namespace {

using edge_delta::Outcome;

static_assert(kBlockFloats % residue::kBlock == 0);

/// The residues of `n` values from `begin` on.
template <typename Byte>
std::span<Byte> part(std::span<Byte> bytes, std::size_t begin, std::size_t n) {
  return bytes.subspan(residue::size(begin), residue::size(n));
}

/// Notes that `n` values from `begin` on differ from the neighbour's by `scale` times `d`. Where
/// that is 0 throughout, the block was not read: what is read is off by what was rounded.
void note(std::span<float> spread, std::size_t begin, const float* d, std::size_t n, float scale) {
  for (std::size_t from = 0; from < n; from += residue::kBlock) {
    std::uint32_t largest = 0;
    for (std::size_t i = from; i < std::min(n, from + residue::kBlock); ++i) {
      largest = std::max(largest, std::bit_cast<std::uint32_t>(d[i]) & ~kFloatSign);
    }
    Spread::note(spread[(begin + from) / residue::kBlock], scale * std::bit_cast<float>(largest));
  }
}

/// The same of offers that crossed, both rounded, which may well be equal; blocks that could not be
/// read become 0.
void note_crossed(std::span<float> spread, std::size_t begin, std::span<float> apart) {
  for (std::size_t from = 0; from < apart.size(); from += residue::kBlock) {
    const auto block = apart.subspan(from, std::min(residue::kBlock, apart.size() - from));
    float furthest = std::numeric_limits<float>::min();
    for (const float value : block) furthest = std::max(furthest, std::abs(value));
    const bool read = !std::isnan(block[0]);
    if (!read) std::ranges::fill(block, 0.0F);
    Spread::note(spread[(begin + from) / residue::kBlock], read ? furthest : 0);
  }
}

/// What residues show near exact values, less those; at most a block.
bool subtract_exact(std::span<const std::byte> residues, std::span<const std::byte> exact,
                    std::span<float> apart) {
  Block near;
  if (!Fp32Codec().decode(exact, {near.data(), apart.size()})) return false;
  std::copy_n(near.begin(), apart.size(), apart.begin());
  if (!residue::read(residues, apart)) return false;
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= near[i];
  return true;
}

std::span<const std::byte> part(const Offer& offer, std::size_t begin, std::size_t n) {
  return offer.exact ? offer.bytes.subspan(begin * sizeof(float), n * sizeof(float))
                     : part(offer.bytes, begin, n);
}

bool subtract_block(const Offer& theirs, const Offer& ours, std::size_t begin,
                    std::span<float> apart) {
  const auto a = part(theirs, begin, apart.size()), b = part(ours, begin, apart.size());
  if (!theirs.exact && !ours.exact) return residue::subtract(a, b, apart);
  if (ours.exact) return subtract_exact(a, b, apart);
  if (!subtract_exact(b, a, apart)) return false;
  for (float& value : apart) value = -value;
  return true;
}

}  // namespace

Outcome offer(std::span<const float> y, std::span<const float> p, std::span<const float> spread,
              std::span<std::byte> out) {
  Outcome outcome;
  Block z;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &=
        kernels::sum(&y[begin], &p[begin], z.data(), n) &&
        residue::write({z.data(), n}, spread.subspan(begin / residue::kBlock), part(out, begin, n));
  });
  return outcome;
}

Outcome answer(std::span<const float> y, std::span<float> p, std::span<float> spread,
               std::span<const std::byte> offer, int divisor, const Codec& reply_codec,
               std::span<std::byte> reply) {
  Outcome outcome;
  Outgoing d(reply_codec, reply);
  const float beta = 1.0F / static_cast<float>(divisor);
  Block theirs;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= kernels::sum(&y[begin], &p[begin], theirs.data(), n) &&
                      residue::read(part(offer, begin, n), {theirs.data(), n});
    const kernels::Sums sums =
        kernels::difference(theirs.data(), &y[begin], &p[begin], beta, d.room(begin), n);
    outcome.distance2 += sums.distance2;
    outcome.norm2 += sums.norm2;
    outcome.finite &= sums.finite;
    if (!outcome.finite) return;
    note(spread, begin, d.room(begin), n, static_cast<float>(divisor));
    outcome.finite &= d.write(begin, n);
  });
  if (!outcome.finite) return outcome;
  Incoming sent(reply_codec, reply);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    kernels::add(sent.block(begin, n), &p[begin], n);
  });
  return outcome;
}

Outcome settle(std::span<float> p, std::span<float> spread, const Codec& codec,
               std::span<const std::byte> d, int divisor) {
  Outcome outcome;
  Incoming delta(codec, d);
  outcome.finite = delta.all_finite(p.size());
  if (!outcome.finite) return outcome;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    const float* const block = delta.block(begin, n);
    outcome.distance2 += kernels::subtract(block, &p[begin], n);
    note(spread, begin, block, n, static_cast<float>(divisor));
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

bool subtract(const Offer& theirs, const Offer& ours, std::span<float> apart) {
  bool good = true;
  for_blocks(apart.size(), [&](std::size_t begin, std::size_t n) {
    good &= subtract_block(theirs, ours, begin, apart.subspan(begin, n));
  });
  return good;
}

Outcome merge(std::span<float> p, std::span<float> spread, const Offer& ours, const Offer& theirs) {
  Outcome outcome;
  Block d;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= subtract_block(theirs, ours, begin, {d.data(), n});
  });
  if (!outcome.finite) return outcome;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    (void)subtract_block(ours, theirs, begin, {d.data(), n});
    note_crossed(spread, begin, {d.data(), n});
    for (std::size_t i = 0; i < n; ++i) d[i] *= 0.5F;
    outcome.distance2 += 4 * kernels::subtract(d.data(), &p[begin], n);
  });
  return outcome;
}

}  // namespace residue_delta
}  // namespace stencil
