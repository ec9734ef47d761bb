#pragma once

#include <cstddef>
#include <span>

#include "stencil/codec/codec.h"
#include "stencil/mix/kernels.h"

/// The edge-delta rule on one bucket (pairwise averaging, AD-PSGD: Lian et al. 2018, in delta
/// form).
///
/// x is the framework's memory, y a copy of x from the last step boundary, p the sum of all deltas
/// agreed since; z = y + p is what the network sees. Each delta d is added at one end and
/// subtracted at the other, as decoded from the same bytes, so the mean over workers is kept
/// whatever the codec and the delay.
///
/// Exchanges by message are an EdgeCodec's, and the fold a kernel. Here is what passes no edge's
/// codec. Pure functions; the caller holds the bucket's lock.
namespace stencil::edge_delta {

struct Outcome {
  bool finite = true;      ///< false: a NaN or infinity was met, and nothing was changed
  bool malformed = false;  ///< a payload that no codec writes; `finite` is then false too
  double distance2 = 0;    ///< |theirs - ours|^2 over the bucket
  double norm2 = 0;        ///< |ours|^2 over the bucket, where it was at hand; else 0

  /// Adds a block's distance and norm.
  void operator+=(const kernels::Sums& block) {
    distance2 += block.distance2;
    norm2 += block.norm2;
  }
};

/// p = s - y, so that the next fold makes x = s: taking over a neighbour's model.
Outcome adopt(std::span<const float> y, std::span<float> p, const Codec& codec,
              std::span<const std::byte> s);

/// y = s and p = 0: the same before the first step, without the rounding of a difference.
Outcome begin_with(std::span<float> y, std::span<float> p, const Codec& codec,
                   std::span<const std::byte> s);

/// Averages both ends at once, where one thread can reach both: p += d and their p -= d, with d =
/// (their z - our z) / divisor. One pass; d is exact to fp32 whatever the codec. It stops at a NaN
/// or an infinity; the blocks before it stay averaged, at both ends alike.
Outcome average_pair(std::span<const float> y, std::span<float> p, std::span<const float> their_y,
                     std::span<float> their_p, int divisor);

}  // namespace stencil::edge_delta
