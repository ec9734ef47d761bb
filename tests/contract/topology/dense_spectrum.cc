#include "tests/contract/topology/dense_spectrum.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stencil/core/mixing_weights.h"

namespace stencil::contract {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// All eigenvalues of a symmetric matrix, ascending, by cyclic Jacobi rotations.
std::vector<double> jacobi_eigenvalues(Matrix a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) off += a[p][q] * a[p][q];
    }
    if (off < 1e-28) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0.0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        const double t =
            (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0);
        const double s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[k][p];
          a[k][p] = c * left - s * a[k][q];
          a[k][q] = s * left + c * a[k][q];
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double up = a[p][k];
          a[p][k] = c * up - s * a[q][k];
          a[q][k] = s * up + c * a[q][k];
        }
      }
    }
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i][i];
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

double dense_lambda2(const Topology& topology) {
  const auto n = static_cast<std::size_t>(topology.size());
  Matrix laplacian(n, std::vector<double>(n, 0.0));
  for (const auto& [a, b] : topology.edges()) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    laplacian[i][i] += 1.0;
    laplacian[j][j] += 1.0;
    laplacian[i][j] = laplacian[j][i] = -1.0;
  }
  return jacobi_eigenvalues(std::move(laplacian))[1];
}

double dense_gap(const Topology& topology) {
  const MixingWeights weights(topology);
  const auto n = static_cast<std::size_t>(topology.size());
  Matrix w(n, std::vector<double>(n, 0.0));
  for (Rank i = 0; i < topology.size(); ++i) {
    for (Rank j = 0; j < topology.size(); ++j) {
      w[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = weights.weight(i, j);
    }
  }
  const auto values = jacobi_eigenvalues(std::move(w));
  return 1.0 - std::max(std::abs(values.front()), std::abs(values[n - 2]));
}

}  // namespace stencil::contract
