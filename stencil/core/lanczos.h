#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace stencil::internal {

/// y = A x for a symmetric A; writes all of y.
using SymmetricOperator = std::function<void(std::span<const double> x, std::span<double> y)>;

/// An extreme eigenvalue and a bound on its distance to a true one.
struct Ritz {
  double value = 0.0;
  double residual = 0.0;
};

struct Extremes {
  Ritz smallest;
  Ritz largest;
};

enum class Ends { kSmallest, kBoth };

/// Extreme eigenvalues of a symmetric operator on vectors of `size` > 0, by Lanczos iteration
/// without reorthogonalisation: O(size) memory whatever the number of steps. Rounding then makes
/// copies of converged eigenvalues but moves none outside the spectrum (Paige 1971, 1980), so
/// the extremes are right. The start vector comes from a fixed seed, so results repeat bit for bit.
///
/// Ends when the residuals of the ends asked for are within 1e-8 of their distance to `reference`
/// (the number that the caller will subtract), or at rounding level, or after `max_steps`.
[[nodiscard]] Extremes extreme_eigenvalues(const SymmetricOperator& apply, std::size_t size,
                                           Ends ends, double reference, std::size_t max_steps);

}  // namespace stencil::internal
