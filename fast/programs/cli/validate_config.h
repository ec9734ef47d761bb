#pragma once

#include <string>

#include "fast/train/models.h"
#include "fast/train/worker_config.h"
#include "stencil/core/topology.h"

namespace fast {

/// Checks everything about a configuration that can be checked without touching data, folders or
/// the network: topology, --workers, names, ranges. Throws ConfigError, naming option, value and
/// remedy. Returns the topology.
[[nodiscard]] stencil::Topology validate_config(const TrainConfig& config, const Models& models);

/// Checks that the rank is on the topology, that every --peer is a neighbour of it, and its key
/// files. Throws ConfigError.
void validate_place(const SessionOptions& session, const stencil::Topology& topology);

/// Why this worker cannot pause, for people; "" where it can.
[[nodiscard]] std::string why_no_pause(const WorkerConfig& worker);

/// Checks the key files of the rank, where keys are in use. Throws ConfigError.
void validate_keys(const SessionOptions& session, const stencil::Topology& topology);

}  // namespace fast
