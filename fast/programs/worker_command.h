#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// fast-worker: one rank by itself. Everything that can be checked (options, rank, topology, data,
/// model) is checked before anything is written. Returns an exit code; throws what run_guarded()
/// catches.
int worker_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
