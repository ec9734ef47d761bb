#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "stencil/core/topology.h"

namespace stencil {

/// The weight between two neighbours that have so many each; see MixingWeights.
[[nodiscard]] double mixing_weight(std::size_t neighbours, std::size_t theirs);

/// Symmetric, doubly stochastic Metropolis-Hastings weights: w_ij = 1 / (1 + max(deg i, deg j)) on
/// edges, w_ii = 1 - sum_j w_ij (Xiao, Boyd, Lall 2005). Immutable value.
class MixingWeights {
 public:
  explicit MixingWeights(const Topology& topology);

  /// Weight between neighbours, or of a worker with itself (i == j); 0 where there is no edge.
  [[nodiscard]] double weight(Rank i, Rank j) const;

  /// (rank, weight) of `rank` itself and its neighbours, sorted by rank: one row of W.
  [[nodiscard]] std::vector<std::pair<Rank, double>> row(Rank rank) const;

 private:
  Topology topology_;
};

/// 1 - |second largest eigenvalue modulus| of the mixing matrix; 1 for N = 1. It is the part of the
/// disagreement that one lock-step round removes. Iterative (Lanczos); takes seconds for N = 4,096.
[[nodiscard]] double spectral_gap(const Topology& topology);

/// Second smallest eigenvalue of the graph Laplacian D - A (algebraic connectivity): for any x,
/// sum over edges |x_i - x_j|^2 >= lambda2 * sum_i |x_i - mean|^2. Infinity for N = 1.
[[nodiscard]] double lambda2(const Topology& topology);

}  // namespace stencil
