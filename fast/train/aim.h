#pragma once

#include <cstdint>

#include "fast/data/dataset.h"
#include "fast/options/session_options.h"
#include "fast/run/metrics.h"
#include "fast/train/worker_config.h"

namespace fast {

/// The samples over all workers after which training is over, at least a batch for each; 0 where
/// each device holds its own data, so that the end follows from the shards of all workers, whose
/// sizes they learn from each other. In lock step it follows from the worker's own even then, as if
/// the others' were as large, and workers with other shards refuse it.
[[nodiscard]] std::uint64_t budget_of(const WorkerConfig& config, const Dataset& data);

/// In lock step all workers take the same number of steps, which follows from the configuration; 0
/// where they do not keep step. `budget` is budget_of().
[[nodiscard]] std::uint64_t lock_step_count(const WorkerConfig& config, std::uint64_t budget);

/// The options of the worker's session with all that workers must have in common of their job: when
/// training is over, model, data and shards. `budget` is budget_of().
[[nodiscard]] SessionOptions common_options(const WorkerConfig& config, const Dataset& data,
                                            std::uint64_t budget);

/// The first line of the worker's metrics.
[[nodiscard]] WorkerStart start_of(const WorkerConfig& config, std::uint64_t budget, bool fresh);

}  // namespace fast
