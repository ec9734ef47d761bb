#pragma once

#include "stencil/core/topology.h"

namespace stencil {

/// How far workers stray from each other that take steps with momentum, each along noise of its
/// own, and begin `sweeps` averagings in pairs after every step, with their neighbours in turn: the
/// squared distance of one of them from the mean, in units of the mean's own squared step. 0 for
/// N = 1. Estimated from what averaging does in the mean; chance in it adds to that.
///
/// An edge sees 1/d_i + 1/d_j averagings in a sweep of everybody, each of which moves both ends by
/// half their difference (Boyd et al. 2006, "Randomized gossip algorithms"). So along an
/// eigenvector of the Laplacian with weights (1/d_i + 1/d_j) / 2, of eigenvalue l, differences
/// shrink by a = exp(-sweeps l) a step. What steps add to them goes on for ten steps or so, with
/// momentum m = 0.9: steps as an autoregression keep up a^2 (1 + m a) / ((1 - m a) (1 - a^2)) of
/// their own square, which is summed over all l > 0. Dense, O(N^3).
[[nodiscard]] double straying(const Topology& topology, double sweeps);

/// What usual_sweeps() keeps straying() within. With 0.6 resnet20 ended lower in short runs,
/// where resnet8 did not; less than 0.2 gained nothing (bench/results/cifar10-research.md).
inline constexpr double kUsualStraying = 0.2;

/// Sweeps a step, where nobody says otherwise: the fewest that keep straying() within `bound`, and
/// not more than 6. 2 on torus:2x2, 3 on torus:2x4, 4 on torus:4x4, 5 on ring:8. Over 64 workers,
/// where grids want all six, it is six unasked.
[[nodiscard]] int usual_sweeps(const Topology& topology, double bound = kUsualStraying);

}  // namespace stencil
