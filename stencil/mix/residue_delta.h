#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_delta.h"

namespace stencil {

/// How far apart each block of 64 values was lately found from one neighbour's, by exchanges with
/// it: from this the steps of the next offer to it follow (see codec/residue.h). One float a block.
/// It decides how finely is offered and never what is applied; where that is too fine, the block is
/// not read, which both ends see. One thread.
class Spread {
 public:
  /// Nothing kept.
  Spread() = default;
  /// A thousandth of the largest value of each block, until something is known.
  Spread(const Layout& layout, std::span<const float> initial);

  /// For each block of a bucket the largest distance of a value.
  [[nodiscard]] std::span<float> bucket(std::uint32_t bucket) {
    return std::span(apart_).subspan(bucket * blocks_, blocks_);
  }

  /// Both ends were found `now` apart at most; 0 where that could not be read. What is held grows
  /// at once and shrinks by an eighth at a time: exchanges soon after a step find neighbours
  /// further apart than later ones.
  static void note(float& held, float now) {
    held = now > 0 ? std::max(now, held * 0.875F) : std::min(4 * held, kFurthest);
  }

 private:
  static constexpr float kFurthest = 0x1p100F;

  std::size_t blocks_ = 0;  ///< of a whole bucket
  std::vector<float> apart_;
};

/// The edge-delta rule (edge_delta.h) where offers are residues; `spread` is the neighbour's
/// Spread::bucket(). Replies are differences as ever.
namespace residue_delta {

/// Shows z = y + p. Where not finite, nothing may be sent.
[[nodiscard]] edge_delta::Outcome offer(std::span<const float> y, std::span<const float> p,
                                        std::span<const float> spread, std::span<std::byte> out);

/// d = encode((s - z) / divisor) into `reply`, then p += d, with s what the offer shows near z.
[[nodiscard]] edge_delta::Outcome answer(std::span<const float> y, std::span<float> p,
                                         std::span<float> spread, std::span<const std::byte> offer,
                                         int divisor, const Codec& reply_codec,
                                         std::span<std::byte> reply);

/// p -= d.
[[nodiscard]] edge_delta::Outcome settle(std::span<float> p, std::span<float> spread,
                                         const Codec& codec, std::span<const std::byte> d,
                                         int divisor);

/// One of two offers that crossed.
struct Offer {
  std::span<const std::byte> bytes;
  bool exact = false;  ///< fp32, not residues
};

/// Two offers crossed: p += (theirs - ours) / 2, as far as both ends know it.
[[nodiscard]] edge_delta::Outcome merge(std::span<float> p, std::span<float> spread,
                                        const Offer& ours, const Offer& theirs);

/// Theirs less ours into `apart`, as both ends know it from the two offers, with the sign changed
/// at the other; NaN where they do not. False where an offer is none that is ever sent.
[[nodiscard]] bool subtract(const Offer& theirs, const Offer& ours, std::span<float> apart);

}  // namespace residue_delta
}  // namespace stencil
