#pragma once

#include <cstddef>
#include <span>

#include "stencil/codec/codec.h"
#include "stencil/core/element_type.h"

/// The arithmetic of lock-step decentralised SGD, adapt-then-combine (D-PSGD: Lian et al. 2017) on
/// one bucket: x_i <- x_i + sum_j w_ij (Q(x_j) - Q(x_i)), with Q the codec. With fp32 this is the
/// row W x; under a lossy codec the mean over workers is kept all the same. Neighbours are absorbed
/// in rank order, so results repeat bit for bit. Weights are doubles: rounded to floats, a row of W
/// would not sum to 1, and every model would grow or shrink by 6e-8 a round.
namespace stencil::lock_step {

/// y = x (what neighbours pull in this round); p = x - (1 - self_weight) Q(x). False when x holds a
/// NaN or infinity.
bool publish(std::span<const float> x, std::span<float> y, std::span<float> p, const Codec& codec,
             double self_weight);

/// The same of x + p, where p still has what collect() lost by rounding.
bool publish_with_rest(std::span<const float> x, std::span<float> y, std::span<float> p,
                       const Codec& codec, double self_weight);

/// p += weight * decode(s). Unchanged and false when s is not finite.
bool absorb(std::span<float> p, const Codec& codec, std::span<const std::byte> s, double weight);

/// x = p; where `type` rounds(), x = round(p) and p = what that loses.
void collect(std::span<float> x, std::span<float> p, ElementType type);

}  // namespace stencil::lock_step
