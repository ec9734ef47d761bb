#include "stencil/core/mixing_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "stencil/core/lanczos.h"

namespace stencil {

namespace {

double edge_weight(const Topology& topology, Rank i, Rank j) {
  return mixing_weight(topology.neighbours(i).size(), topology.neighbours(j).size());
}

/// Weighted adjacency in one block of memory: sum over neighbours of w_ij (x_i - x_j) is
/// (I - W) x for the mixing weights and the Laplacian L x for weights of 1.
class WeightedLaplacian {
 public:
  WeightedLaplacian(const Topology& topology, bool mixing) {
    starts_.push_back(0);
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      for (const Rank other : topology.neighbours(rank)) {
        others_.push_back(other);
        weights_.push_back(mixing ? edge_weight(topology, rank, other) : 1.0);
      }
      starts_.push_back(others_.size());
    }
  }

  /// y = L x + lift * mean(x). The constant vector, L's only null vector, gets the eigenvalue
  /// `lift` and so leaves the lower end of the spectrum; the other eigenvalues stay.
  void apply(std::span<const double> x, std::span<double> y, double lift) const {
    const double size = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / size;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = lift * mean;
      for (std::size_t k = starts_[i]; k < starts_[i + 1]; ++k) {
        sum += weights_[k] * (x[i] - x[static_cast<std::size_t>(others_[k])]);
      }
      y[i] = sum;
    }
  }

  /// Lanczos steps that keep the work within about ten seconds.
  [[nodiscard]] std::size_t max_steps() const {
    constexpr std::uint64_t kTouches = 5'000'000'000;
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(kTouches / (starts_.size() * 4 + others_.size()), 100, 60'000));
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<Rank> others_;
  std::vector<double> weights_;
};

}  // namespace

double mixing_weight(std::size_t neighbours, std::size_t theirs) {
  return 1.0 / (1.0 + static_cast<double>(std::max(neighbours, theirs)));
}

MixingWeights::MixingWeights(const Topology& topology) : topology_(topology) {}

double MixingWeights::weight(Rank i, Rank j) const {
  if (i != j) return topology_.are_neighbours(i, j) ? edge_weight(topology_, i, j) : 0.0;
  double rest = 1.0;
  for (const Rank other : topology_.neighbours(i)) rest -= edge_weight(topology_, i, other);
  return rest;
}

std::vector<std::pair<Rank, double>> MixingWeights::row(Rank rank) const {
  std::vector<std::pair<Rank, double>> result;
  result.reserve(topology_.neighbours(rank).size() + 1);
  for (const Rank other : topology_.neighbours(rank)) {
    result.emplace_back(other, edge_weight(topology_, rank, other));
  }
  result.emplace_back(rank, weight(rank, rank));
  std::sort(result.begin(), result.end());
  return result;
}

double spectral_gap(const Topology& topology) {
  if (topology.size() == 1) return 1.0;
  // Works on I - W, whose small eigenvalues keep their digits; 1 - mu would cancel them. The
  // constant vector is lifted to 1, an eigenvalue 0 of W, which changes no maximum of moduli.
  const WeightedLaplacian laplacian(topology, true);
  const auto size = static_cast<std::size_t>(topology.size());
  const auto found =
      internal::extreme_eigenvalues([&](auto x, auto y) { laplacian.apply(x, y, 1.0); }, size,
                                    internal::Ends::kBoth, 0.0, laplacian.max_steps());
  const double slow = found.smallest.value - found.smallest.residual;
  const double alternating = 2.0 - found.largest.value - found.largest.residual;
  return std::clamp(std::min(slow, alternating), 0.0, 1.0);
}

double lambda2(const Topology& topology) {
  if (topology.size() == 1) return std::numeric_limits<double>::infinity();
  std::size_t max_degree = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    max_degree = std::max(max_degree, topology.neighbours(rank).size());
  }
  // No eigenvalue of L exceeds twice the largest degree. Lifted there, the constant vector comes
  // last.
  const double lift = 2.0 * static_cast<double>(max_degree);
  const WeightedLaplacian laplacian(topology, false);
  const double size = static_cast<double>(topology.size());
  const auto found =
      internal::extreme_eigenvalues([&](auto x, auto y) { laplacian.apply(x, y, lift); },
                                    static_cast<std::size_t>(topology.size()),
                                    internal::Ends::kSmallest, 0.0, laplacian.max_steps());
  // A value too low keeps the inequality of the header true; lambda2 >= 4 / N^2 always (Mohar
  // 1991).
  return std::max(found.smallest.value - found.smallest.residual, 4.0 / (size * size));
}

}  // namespace stencil
