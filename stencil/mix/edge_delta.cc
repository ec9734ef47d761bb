#include "stencil/mix/edge_delta.h"

#include <algorithm>
#include <array>

#include "stencil/mix/blocks.h"

namespace stencil::edge_delta {

bool fold(std::span<float> x, std::span<float> y, std::span<float> p) {
  float* __restrict__ xs = x.data();
  float* __restrict__ ys = y.data();
  float* __restrict__ ps = p.data();
  // 0 * v is 0 for a finite v and NaN otherwise, so one sum tells of all.
  float poison = 0;
#pragma omp simd reduction(+ : poison)
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float folded = xs[i] + ps[i];
    xs[i] = folded;
    ys[i] = folded;
    ps[i] = 0;
    poison += 0.0F * folded;
  }
  return poison == 0.0F;
}

bool offer(std::span<const float> y, std::span<const float> p, const Codec& codec,
           std::span<std::byte> out) {
  bool finite = true;
  Block z;
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) z[i] = y[begin + i] + p[begin + i];
    finite &= codec.encode({z.data(), n}, coded(codec, out, begin, n));
  });
  return finite;
}

Outcome answer(std::span<const float> y, std::span<float> p, const Codec& codec,
               std::span<const std::byte> s, int divisor, std::span<std::byte> reply) {
  Outcome outcome;
  Block theirs, d;
  const float beta = 1.0F / static_cast<float>(divisor);
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &= codec.decode(coded(codec, s, begin, n), {theirs.data(), n});
    float distance2 = 0, norm2 = 0;
#pragma omp simd reduction(+ : distance2, norm2)
    for (std::size_t i = 0; i < n; ++i) {
      const float z = y[begin + i] + p[begin + i];
      const float difference = theirs[i] - z;
      d[i] = beta * difference;
      distance2 += difference * difference;
      norm2 += z * z;
    }
    outcome.distance2 += distance2;
    outcome.norm2 += norm2;
    outcome.finite &= codec.encode({d.data(), n}, coded(codec, reply, begin, n));
  });
  if (!outcome.finite) return outcome;
  // Only now, with the whole bucket known to be finite, is anything changed; `reply` is still in
  // cache, and adding what was decoded from it makes both ends apply the same numbers.
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    (void)codec.decode(coded(codec, std::span<const std::byte>(reply), begin, n), {d.data(), n});
    for (std::size_t i = 0; i < n; ++i) p[begin + i] += d[i];
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
    float norm2 = 0;
#pragma omp simd reduction(+ : norm2)
    for (std::size_t i = 0; i < n; ++i) {
      p[begin + i] -= delta[i];
      norm2 += delta[i] * delta[i];
    }
    outcome.distance2 += norm2;
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
    float distance2 = 0, norm2 = 0;
#pragma omp simd reduction(+ : distance2, norm2)
    for (std::size_t i = 0; i < n; ++i) {
      const float difference = other[i] - mine[i];
      p[begin + i] += 0.5F * difference;
      distance2 += difference * difference;
      norm2 += mine[i] * mine[i];
    }
    outcome.distance2 += distance2;
    outcome.norm2 += norm2;
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
    for (std::size_t i = 0; i < n; ++i) p[begin + i] = theirs[i] - y[begin + i];
  });
  return outcome;
}

}  // namespace stencil::edge_delta
