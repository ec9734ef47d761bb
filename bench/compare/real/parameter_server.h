#pragma once

#include "bench/compare/real/participant.h"
#include "bench/compare/split.h"

namespace fast::compare {

// A parameter server over ZeroMQ, as MXNet's dist_async and dist_sync: workers push gradients, the
// server has the optimizer and answers with the parameters.
//
// A request is [kind: 'p'ush, 'g'et or 'b'ye][gradient, floats; push only]; the answer is [share of
// the budget, double][parameters, floats]. Each worker has one of each in flight.

/// A worker's side: train_step() pushes its gradient and adopts the parameters of the answer.
[[nodiscard]] Participant make_server_client(const Place& place,
                                             std::unique_ptr<TorchLearner> learner);

/// The server's process, until every worker has said bye. Asynchronous: applies each gradient as it
/// comes. Sync: waits for all workers' gradients and applies their mean. Throws DeadlineError where
/// nothing comes for `place.deadline` seconds.
void serve_parameters(const Cell& cell, const Place& place, TorchLearner& learner);

}  // namespace fast::compare
