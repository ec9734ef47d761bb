#include "stencil/mix/edge_delta.h"

#include <algorithm>

#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil::edge_delta {

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
