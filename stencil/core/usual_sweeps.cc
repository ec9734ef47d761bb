#include "stencil/core/usual_sweeps.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace stencil {

namespace {

constexpr double kMomentum = 0.9;
constexpr int kMost = 6;
constexpr int kLargestCounted = 64;

/// Without the null vector's, ascending.
Eigen::ArrayXd rates(const Topology& topology) {
  const int size = topology.size();
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);
  const auto degree = [&](Rank rank) {
    return static_cast<double>(topology.neighbours(rank).size());
  };
  for (const auto& [i, j] : topology.edges()) {
    const double weight = (1 / degree(i) + 1 / degree(j)) / 2;
    m(i, i) += weight;
    m(j, j) += weight;
    m(i, j) -= weight;
    m(j, i) -= weight;
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().tail(size - 1);
}

double straying(const Eigen::ArrayXd& rates, double sweeps) {
  const Eigen::ArrayXd a = (-sweeps * rates).exp();
  return (a.square() * (1 + kMomentum * a) / ((1 - kMomentum * a) * (1 - a.square()))).sum();
}

}  // namespace

double straying(const Topology& topology, double sweeps) {
  return straying(rates(topology), sweeps);
}

int usual_sweeps(const Topology& topology, double bound) {
  if (topology.size() > kLargestCounted) return kMost;
  const Eigen::ArrayXd found = rates(topology);
  int sweeps = 1;
  while (sweeps < kMost && straying(found, sweeps) > bound) ++sweeps;
  return sweeps;
}

}  // namespace stencil
