#pragma once

#include "bench/compare/real/participant.h"

namespace fast::compare {

/// Synchronous data-parallel training as in torch's DistributedDataParallel: c10d's Reducer over
/// ProcessGroupGloo averages gradients in buckets (1 MiB first, then 25 MiB, or all of
/// `bucket_kib`) during the backward pass. Where a worker is gone or too slow, the step ends at the
/// deadline with DeadlineError. Bytes are those of a ring, 2 (N - 1) / N of the model per step,
/// since Gloo does not count them.
[[nodiscard]] Participant make_allreduce(const Place& place, std::unique_ptr<TorchLearner> learner,
                                         int bucket_kib = 0);

}  // namespace fast::compare
