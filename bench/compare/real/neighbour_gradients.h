#pragma once

#include "bench/compare/real/participant.h"

namespace fast::compare {

/// stencil-gradients, for comparison with the first FAST: a worker sends each of its gradients to
/// its neighbours and applies theirs, when they have arrived, as optimizer steps of its own. It
/// waits for nobody. Unlike in the first FAST, queues are bounded, so that a neighbour that is far
/// behind misses gradients, and workers share the budget: the others use the part of a slow or dead
/// worker.
///
/// A message is one gradient: floats, parameter after parameter.
///
/// Throws DeadlineError where a neighbour does not come up within `place.deadline` seconds.
[[nodiscard]] Participant make_neighbour_gradients(const Cell& cell, const Place& place,
                                                   std::unique_ptr<TorchLearner> learner);

}  // namespace fast::compare
