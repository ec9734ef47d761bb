#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// fast train: checks everything, makes the run folder, starts one fast-worker per rank on this
/// machine, watches them, and reports. Returns an exit code; throws what run_guarded() catches.
int train_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
