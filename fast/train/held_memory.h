#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fast/adapter.h"
#include "fast/data/dataset.h"
#include "fast/train/worker_config.h"

namespace fast {

/// What a worker holds beside its exchange, by name and in bytes: its images and labels, batches
/// made of them, the model with gradients and the optimizer's numbers. What the framework takes for
/// the results of layers while it computes a step cannot be told, and is left out.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> held_beside(
    const WorkerConfig& config, const Dataset& data, std::size_t shard, ModelAdapter& adapter);

}  // namespace fast
