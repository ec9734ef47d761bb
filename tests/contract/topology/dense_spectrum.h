#pragma once

#include "stencil/core/topology.h"

namespace stencil::contract {

// Eigenvalues by a dense solver, in O(N^3) a sweep: the reference of the iterative solver. Both
// functions require two workers or more.

/// The second smallest eigenvalue of the Laplacian.
[[nodiscard]] double dense_lambda2(const Topology& topology);
/// 1 - |the second largest in modulus| of the mixing weights.
[[nodiscard]] double dense_gap(const Topology& topology);

}  // namespace stencil::contract
