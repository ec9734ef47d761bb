#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// fast simulate: N virtual workers with the real protocol under a virtual clock; prints consensus
/// and objective over virtual time. Returns an exit code; throws what run_guarded() catches.
int simulate_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
