#pragma once

#include "stencil/core/topology.h"

namespace stencil {

/// How far workers in step stray from each other that take steps with momentum, each along noise of
/// its own, and after every step meet so many neighbours as there are `sweeps`, in their turns
/// (see Turns): the squared distance of one of them from the mean, in units of the mean's own
/// squared step. 0 for N = 1, and where the turns of a step bring all together, as two do on
/// torus:2x2, three on torus:2x4 and four on torus:4x4, which are hypercubes (dimension exchange:
/// Cybenko 1989).
///
/// Exact for what it tells of: covariances of what workers differ by, and of the steps that
/// momentum of 0.9 goes on with, carried on from step to step until they stay. O(N^2) for each.
[[nodiscard]] double straying(const Topology& topology, double sweeps);

/// What usual_sweeps() keeps straying() within: bench/results/cifar10-research.md.
inline constexpr double kUsualStraying = 0.25;

/// Sweeps a step, where nobody says otherwise: the fewest that keep straying() within `bound`, and
/// not more than 8. 2 on torus:2x2, 3 on torus:2x4, 4 on torus:4x4, 5 on ring:8. Over 64 workers,
/// where grids want all eight, it is eight unasked.
[[nodiscard]] int usual_sweeps(const Topology& topology, double bound = kUsualStraying);

}  // namespace stencil
