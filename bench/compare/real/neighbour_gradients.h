#pragma once

#include "bench/compare/real/participant.h"

namespace fast::compare {

/// stencil-gradients, for the record: as the first FAST did, a worker sends each of its gradients
/// to its neighbours and applies theirs, whenever they have come, as optimizer steps of its own; it
/// makes its share of the budget and waits for nobody. Unlike there, queues have a bound: a
/// neighbour that is far behind misses gradients.
///
/// A message is one gradient: floats, parameter after parameter.
///
/// Throws DeadlineError where a neighbour does not come up within `place.deadline` seconds.
[[nodiscard]] Participant make_neighbour_gradients(const Cell& cell, const Place& place,
                                                   std::unique_ptr<TorchLearner> learner);

}  // namespace fast::compare
