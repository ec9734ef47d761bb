#include "stencil/mix/edge_delta.h"

#include <algorithm>
#include <array>

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

bool offer(std::span<const float> y, std::span<const float> p, const Codec& codec,
           std::span<std::byte> out) {
  bool finite = true;
  Block z;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    kernels::sum(&y[begin], &p[begin], z.data(), n);
    finite &= codec.encode({z.data(), n}, coded(codec, out, begin, n));
  });
  return finite;
}

Outcome answer(std::span<const float> y, std::span<float> p, const Codec& offer_codec,
               std::span<const std::byte> s, int divisor, const Codec& reply_codec,
               std::span<std::byte> reply) {
  Outcome outcome;
  Block theirs, d;
  const float beta = 1.0F / static_cast<float>(divisor);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= offer_codec.decode(coded(offer_codec, s, begin, n), {theirs.data(), n});
    outcome += kernels::difference(theirs.data(), &y[begin], &p[begin], beta, d.data(), n);
    outcome.finite &= reply_codec.encode({d.data(), n}, coded(reply_codec, reply, begin, n));
  });
  if (!outcome.finite) return outcome;
  // Only now, with the whole bucket known to be finite, is anything changed; `reply` is still in
  // cache, and adding what was decoded from it makes both ends apply the same numbers.
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    const auto sent = coded(reply_codec, std::span<const std::byte>(reply), begin, n);
    (void)reply_codec.decode(sent, {d.data(), n});
    kernels::add(d.data(), &p[begin], n);
  });
  return outcome;
}

Outcome settle(std::span<float> p, const Codec& codec, std::span<const std::byte> d, int divisor) {
  Outcome outcome;
  outcome.finite = all_finite(codec, d, p.size());
  if (!outcome.finite) return outcome;
  Block delta;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    (void)codec.decode(coded(codec, d, begin, n), {delta.data(), n});
    outcome.distance2 += kernels::subtract(delta.data(), &p[begin], n);
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

Outcome merge(std::span<float> p, const Codec& our_codec, std::span<const std::byte> ours,
              const Codec& their_codec, std::span<const std::byte> theirs) {
  Outcome outcome;
  outcome.finite =
      all_finite(our_codec, ours, p.size()) && all_finite(their_codec, theirs, p.size());
  if (!outcome.finite) return outcome;
  Block mine, other;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    (void)our_codec.decode(coded(our_codec, ours, begin, n), {mine.data(), n});
    (void)their_codec.decode(coded(their_codec, theirs, begin, n), {other.data(), n});
    outcome += kernels::approach(mine.data(), other.data(), &p[begin], n);
  });
  return outcome;
}

Outcome adopt(std::span<const float> y, std::span<float> p, const Codec& codec,
              std::span<const std::byte> s) {
  Outcome outcome;
  outcome.finite = all_finite(codec, s, p.size());
  if (!outcome.finite) return outcome;
  Block theirs;
  for_blocks(p.size(), [&](std::size_t begin, std::size_t n) {
    (void)codec.decode(coded(codec, s, begin, n), {theirs.data(), n});
    kernels::replace(theirs.data(), &y[begin], &p[begin], n);
  });
  return outcome;
}

}  // namespace stencil::edge_delta
