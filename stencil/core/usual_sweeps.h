#pragma once

#include "stencil/core/topology.h"

namespace stencil {

/// The mean squared distance of a worker from the mean model, in units of the mean's own squared
/// step. The workers are in step, take steps with momentum along independent noise, and after each
/// step meet `sweeps` neighbours in their turns (see Turns). The result is 0 for N = 1 and where
/// the turns of one step bring all workers to the mean, as two do on torus:2x2, three on torus:2x4
/// and four on torus:4x4, which are hypercubes (dimension exchange: Cybenko 1989).
///
/// Exact for this model: iterates the covariances of the differences and of the steps that a
/// momentum of 0.9 continues, until they are stationary. O(N^2) per step.
[[nodiscard]] double straying(const Topology& topology, double sweeps);

/// The bound of straying() that usual_sweeps() keeps; measured in
/// bench/results/cifar10-research.md.
inline constexpr double kUsualStraying = 0.25;

/// The default number of sweeps a step: the fewest that keep straying() within `bound`, at most 8.
/// It is 2 on torus:2x2, 3 on torus:2x4, 4 on torus:4x4, 5 on ring:8. For more than 64 workers,
/// where grids need all eight, it is 8 without a computation.
[[nodiscard]] int usual_sweeps(const Topology& topology, double bound = kUsualStraying);

}  // namespace stencil
