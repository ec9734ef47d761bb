#pragma once

#include <cstddef>
#include <span>

#include "stencil/codec/codec.h"
#include "stencil/core/element_type.h"

/// The arithmetic of the edge-delta rule on one bucket (pairwise averaging, AD-PSGD: Lian et al.
/// 2018, in delta form). Pure functions; the caller holds the bucket's lock.
///
/// x is the framework's memory, y a copy of x from the last step boundary, p the sum of all deltas
/// agreed since; z = y + p is what the network sees. Each delta d is added at one end and
/// subtracted at the other, as decoded from the same bytes, so the mean over workers is kept
/// whatever the codec and the delay.
namespace stencil::edge_delta {

struct Outcome {
  bool finite = true;      ///< false: a NaN or infinity was met, and nothing was changed
  bool malformed = false;  ///< a payload that no codec writes; `finite` is then false too
  double distance2 = 0;    ///< |theirs - ours|^2 over the bucket
  double norm2 = 0;        ///< |ours|^2 over the bucket, where it was at hand; else 0
};

/// x += p; y = x; p = 0. False when x holds a NaN or infinity (y then holds it too, and offer()
/// will refuse the bucket).
bool fold(std::span<float> x, std::span<float> y, std::span<float> p);

/// The same where the framework keeps x in `type`: x is then what that type can hold, and what
/// rounding loses stays in p, so that z is as exact as without.
bool fold(std::span<float> x, std::span<float> y, std::span<float> p, ElementType type);

/// y = x: fold() where p is 0, which is not read.
bool show(std::span<const float> x, std::span<float> y);

/// out = encode(y + p). False when not finite: nothing may be sent.
bool offer(std::span<const float> y, std::span<const float> p, const Codec& codec,
           std::span<std::byte> out);
/// The same, but y bit for bit where p is 0: a sum would turn -0 into 0.
bool copy(std::span<const float> y, std::span<const float> p, const Codec& codec,
          std::span<std::byte> out);

/// d = encode((s - z) / divisor) into `reply`, then p += d.
Outcome answer(std::span<const float> y, std::span<float> p, const Codec& offer_codec,
               std::span<const std::byte> s, int divisor, const Codec& reply_codec,
               std::span<std::byte> reply);

/// The reply to our offer: p -= d.
Outcome complete(std::span<float> p, const Codec& codec, std::span<const std::byte> d, int divisor);

/// Two offers crossed: p += (theirs - ours) / 2, with `ours` the bytes that we had offered. The
/// other end does the same with the roles exchanged, which is the exact negative.
Outcome merge(std::span<float> p, const Codec& our_codec, std::span<const std::byte> ours,
              const Codec& their_codec, std::span<const std::byte> theirs);

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
