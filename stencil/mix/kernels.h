#pragma once

#include <cstddef>
#include <cstdint>

#include "stencil/core/element_type.h"

/// The loops of the exchange's arithmetic, each one pass over `n` floats. They are compiled for
/// every instruction set of this architecture that Highway supports, and a call chooses the best
/// that the processor has. The floats written are bit for bit the same on all of them: no product
/// is contracted into a sum. Sums over many floats are not the same, since lanes add up in
/// different orders; they agree to 1e-5.
///
/// An array that is written must not overlap another.
namespace stencil::kernels {

struct Sums {
  bool finite = true;   ///< of what was written
  float distance2 = 0;  ///< |theirs - ours|^2
  float norm2 = 0;      ///< |ours|^2
};

/// x += p; y = x; p = 0. False when x then holds a NaN or an infinity. Where `type` rounds(), x can
/// hold only what it can: x = y = round(x + p), and p = what that loses, so that y + p is as exact
/// as without. A sum that is NaN or infinite leaves x so, and p 0.
[[nodiscard]] bool fold(float* x, float* y, float* p, std::size_t n,
                        ElementType type = ElementType::kF32);

/// y = x: fold() where p is 0, which is not read.
[[nodiscard]] bool show(const float* x, float* y, std::size_t n);

/// Whether no value is NaN or infinite.
[[nodiscard]] bool finite(const float* values, std::size_t n);

/// z = y + p. False when z then holds a NaN or an infinity.
[[nodiscard]] bool sum(const float* y, const float* p, float* z, std::size_t n);

/// d = beta (theirs - z) with z = y + p, which counts as ours.
Sums difference(const float* theirs, const float* y, const float* p, float beta, float* d,
                std::size_t n);

/// d = beta (theirs - z) with z = y + p, which counts as ours, and theirs = their_y + their_p.
Sums pair_difference(const float* y, const float* p, const float* their_y, const float* their_p,
                     float beta, float* d, std::size_t n);

/// p += d and their_p -= d, one after the other for each vector: a process killed here leaves at
/// most one vector of floats applied at one end only.
void trade(const float* d, float* p, float* their_p, std::size_t n);

/// Writes `first` + i for each i whose value's magnitude, taken as bits, is at least `bound`, in
/// order, and returns how many; `places` has room for one more than that.
[[nodiscard]] std::size_t at_least(const float* values, std::size_t n, std::uint32_t bound,
                                   std::uint32_t first, std::uint32_t* places);

/// p += d.
void add(const float* d, float* p, std::size_t n);

/// p -= d. Returns |d|^2.
float subtract(const float* d, float* p, std::size_t n);

/// p += (theirs - ours) / 2.
Sums approach(const float* ours, const float* theirs, float* p, std::size_t n);

/// p = theirs - y.
void replace(const float* theirs, const float* y, float* p, std::size_t n);

struct Following {
  std::size_t moved = 0;  ///< how many of `after` differ from `before`
  double values2 = 0;     ///< |values|^2
  double sum2 = 0;        ///< |values + factor * (after - before)|^2
};

/// What follow() would do with a scale of 1. Its sums are the same bits on all instruction sets,
/// since they decide on what follow() writes.
[[nodiscard]] Following following(const float* before, const float* after, float factor,
                                  const float* values, std::size_t n);

/// values = scale * (values + factor * (after - before)).
void follow(const float* before, const float* after, float factor, float scale, float* values,
            std::size_t n);

/// sum += share * (after - before).
void add_moved(const float* before, const float* after, float share, float* sum, std::size_t n);

/// How many values of `a` and `b` differ.
[[nodiscard]] std::size_t differing(const float* a, const float* b, std::size_t n);

/// y = x; p = x - weight * sent, in double.
void publish(const float* x, const float* sent, double weight, float* y, float* p, std::size_t n);

/// p += weight * theirs, in double.
void absorb(const float* theirs, double weight, float* p, std::size_t n);

}  // namespace stencil::kernels
