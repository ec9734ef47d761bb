#pragma once

#include "bench/compare/real/participant.h"

namespace fast::compare {

/// stencil-gradients, for the record: as the first FAST did, a worker sends each of its gradients
/// to its neighbours and applies theirs, whenever they have come, as optimizer steps of its own. It
/// waits for nobody. Unlike there, queues have a bound, so that a neighbour which is far behind
/// misses gradients, and workers make the budget together: what a slow one or a dead one does not,
/// the others do.
///
/// A message is one gradient: floats, parameter after parameter.
///
/// Throws DeadlineError where a neighbour does not come up within `place.deadline` seconds.
[[nodiscard]] Participant make_neighbour_gradients(const Cell& cell, const Place& place,
                                                   std::unique_ptr<TorchLearner> learner);

}  // namespace fast::compare
