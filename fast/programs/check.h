#pragma once

#include "fast/config.h"
#include "stencil/core/topology.h"

namespace fast {

/// Everything about a configuration that can be checked without touching data, folders or the
/// network: topology, --workers, names, ranges. Throws ConfigError, naming option, value and
/// remedy. Returns the topology, since everybody needs it next.
[[nodiscard]] stencil::Topology check_config(const TrainConfig& config);

/// The rank stands on the topology, and every --peer is a neighbour of it. Throws ConfigError.
void check_place(const WorkerConfig& config, const stencil::Topology& topology);

}  // namespace fast
