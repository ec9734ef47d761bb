#include "stencil/core/usual_sweeps.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "stencil/core/turns.h"

namespace stencil {

namespace {

constexpr double kMomentum = 0.9;
constexpr int kMost = 8;
constexpr int kLargestCounted = 64;
constexpr int kWarm = 200;     ///< steps, after which covariances are stationary
constexpr int kCounted = 120;  ///< steps averaged over, since fractions of a sweep span several

/// A square matrix over workers: covariances of the differences of workers i and j from the mean.
class Covariance {
 public:
  explicit Covariance(std::size_t size) : size_(size), values_(size * size) {}
  double& at(std::size_t i, std::size_t j) { return values_[i * size_ + j]; }
  [[nodiscard]] double trace() const {
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) sum += values_[i * size_ + i];
    return sum;
  }
  /// Rows i and `partner` become their mean: the effect of a meeting on the first index.
  void meet_rows(std::size_t i, std::size_t partner) {
    for (std::size_t j = 0; j < size_; ++j) {
      at(i, j) = at(partner, j) = (at(i, j) + at(partner, j)) / 2;
    }
  }
  void meet_columns(std::size_t i, std::size_t partner) {
    for (std::size_t j = 0; j < size_; ++j) {
      at(j, i) = at(j, partner) = (at(j, i) + at(j, partner)) / 2;
    }
  }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

}  // namespace

double straying(const Topology& topology, double sweeps) {
  const auto size = static_cast<std::size_t>(topology.size());
  if (size < 2) return 0;
  const Turns turns(topology);
  // `disagreement` is the covariance of the differences, `pushed` that of the differences with the
  // steps to come. A step's own variance about the mean step is 1 - 1/N.
  Covariance disagreement(size), pushed(size);
  const auto own = [&](std::size_t i, std::size_t j) {
    return (i == j ? 1.0 : 0.0) - 1.0 / static_cast<double>(size);
  };
  double sum = 0, begun = 0;
  std::size_t turn = 0;
  for (int step = 0; step < kWarm + kCounted; ++step) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double cross = pushed.at(i, j) + pushed.at(j, i);
        disagreement.at(i, j) = disagreement.at(j, i) = disagreement.at(i, j) + cross + own(i, j);
      }
      disagreement.at(i, i) += 2 * pushed.at(i, i) + own(i, i);
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        pushed.at(i, j) = kMomentum * (pushed.at(i, j) + own(i, j));
      }
    }
    if (sweeps >= static_cast<double>(turns.count())) turn = 0;  // as the engine plans them
    for (; begun + 1 <= (step + 1) * sweeps; ++begun, ++turn) {
      for (std::size_t i = 0; i < size; ++i) {
        const Rank partner = turns.of(static_cast<Rank>(i))[turn % turns.count()];
        if (partner <= static_cast<Rank>(i)) continue;
        disagreement.meet_rows(i, static_cast<std::size_t>(partner));
        disagreement.meet_columns(i, static_cast<std::size_t>(partner));
        pushed.meet_rows(i, static_cast<std::size_t>(partner));
      }
    }
    if (step >= kWarm) sum += disagreement.trace();
  }
  return sum / kCounted;
}

int usual_sweeps(const Topology& topology, double bound) {
  if (topology.size() > kLargestCounted) return kMost;
  int sweeps = 1;
  while (sweeps < kMost && straying(topology, sweeps) > bound) ++sweeps;
  return sweeps;
}

}  // namespace stencil
