#include "stencil/mix/edge_delta.h"

#include <algorithm>

#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil::edge_delta {
namespace {

void operator+=(Outcome& outcome, kernels::Sums sums) {
  outcome.distance2 += sums.distance2;
  outcome.norm2 += sums.norm2;
}

}  // namespace

bool fold(std::span<float> x, std::span<float> y, std::span<float> p) {
  return kernels::fold(x.data(), y.data(), p.data(), x.size());
}

bool fold(std::span<float> x, std::span<float> y, std::span<float> p, ElementType type) {
  if (!rounds(type)) return fold(x, y, p);
  return kernels::fold_rounded(x.data(), y.data(), p.data(), x.size(), type);
}

bool show(std::span<const float> x, std::span<float> y) {
  return kernels::show(x.data(), y.data(), x.size());
}

bool offer(std::span<const float> y, std::span<const float> p, const Codec& codec,
           std::span<std::byte> out) {
  bool finite = true;
  Outgoing z(codec, out);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    finite &= kernels::sum(&y[begin], &p[begin], z.space(begin), n) && z.write(begin, n);
  });
  return finite;
}

bool copy(std::span<const float> y, std::span<const float> p, const Codec& codec,
          std::span<std::byte> out) {
  const bool nothing = std::ranges::all_of(p, [](float value) { return value == 0; });
  return nothing ? codec.encode(y, out) : offer(y, p, codec, out);
}

Outcome answer(std::span<const float> y, std::span<float> p, const Codec& offer_codec,
               std::span<const std::byte> s, int divisor, const Codec& reply_codec,
               std::span<std::byte> reply) {
  Outcome outcome;
  Incoming theirs(offer_codec, s);
  Outgoing d(reply_codec, reply);
  const float beta = 1.0F / static_cast<float>(divisor);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    const kernels::Sums sums =
        kernels::difference(theirs.block(begin, n), &y[begin], &p[begin], beta, d.space(begin), n);
    outcome += sums;
    outcome.finite &= sums.finite && d.write(begin, n);
  });
  outcome.finite &= theirs.decodable();
  if (!outcome.finite) return outcome;
  // Nothing is changed before the whole bucket is known to be finite. Both ends apply the same
  // numbers, since this end also decodes `reply`, which is still in cache.
  Incoming sent(reply_codec, reply);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    kernels::add(sent.block(begin, n), &p[begin], n);
  });
  return outcome;
}

Outcome complete(std::span<float> p, const Codec& codec, std::span<const std::byte> d,
                 int divisor) {
  Outcome outcome;
  Incoming delta(codec, d);
  outcome.finite = delta.all_finite(p.size());
  if (!outcome.finite) return outcome;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    outcome.distance2 += kernels::subtract(delta.block(begin, n), &p[begin], n);
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

Outcome merge(std::span<float> p, const Codec& our_codec, std::span<const std::byte> ours,
              const Codec& their_codec, std::span<const std::byte> theirs) {
  Outcome outcome;
  Incoming mine(our_codec, ours), other(their_codec, theirs);
  outcome.finite = mine.all_finite(p.size()) && other.all_finite(p.size());
  if (!outcome.finite) return outcome;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    outcome += kernels::approach(mine.block(begin, n), other.block(begin, n), &p[begin], n);
  });
  return outcome;
}

Outcome adopt(std::span<const float> y, std::span<float> p, const Codec& codec,
              std::span<const std::byte> s) {
  Outcome outcome;
  Incoming theirs(codec, s);
  outcome.finite = theirs.all_finite(p.size());
  if (!outcome.finite) return outcome;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    kernels::replace(theirs.block(begin, n), &y[begin], &p[begin], n);
  });
  return outcome;
}

Outcome begin_with(std::span<float> y, std::span<float> p, const Codec& codec,
                   std::span<const std::byte> s) {
  Outcome outcome;
  Incoming theirs(codec, s);
  outcome.finite = theirs.all_finite(y.size());
  if (!outcome.finite) return outcome;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    std::copy_n(theirs.block(begin, n), n, &y[begin]);
  });
  std::ranges::fill(p, 0.0F);
  return outcome;
}

Outcome average_pair(std::span<const float> y, std::span<float> p, std::span<const float> their_y,
                     std::span<float> their_p, int divisor) {
  Outcome outcome;
  Block d;
  const float beta = 1.0F / static_cast<float>(divisor);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    if (!outcome.finite) return;
    const kernels::Sums sums = kernels::pair_difference(&y[begin], &p[begin], &their_y[begin],
                                                        &their_p[begin], beta, d.data(), n);
    outcome.finite = sums.finite;
    if (!outcome.finite) return;
    outcome += sums;
    kernels::trade(d.data(), &p[begin], &their_p[begin], n);
  });
  return outcome;
}

}  // namespace stencil::edge_delta
