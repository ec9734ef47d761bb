#pragma once

#include "bench/compare/real/participant.h"

namespace fast::compare {

/// Synchronous data parallel training as torch's DistributedDataParallel does it: c10d's Reducer
/// over ProcessGroupGloo, gradients in buckets (1 MiB first, then 25 MiB, or all of
/// `bucket_kib`) averaged while the backward pass goes on. A worker that is gone or too slow ends
/// the step at the deadline: DeadlineError. Bytes are those of a ring, 2 (N - 1) / N of the model
/// per step: Gloo counts none.
[[nodiscard]] Participant make_allreduce(const Place& place, std::unique_ptr<TorchLearner> learner,
                                         int bucket_kib = 0);

}  // namespace fast::compare
