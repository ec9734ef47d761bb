#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace fast {

/// The program `fast`, whose workers train these models. Returns its exit code; throws nothing.
int fast_main(int argc, char** argv, const Models& models);

/// "train", "topology", ..
[[nodiscard]] std::vector<std::string> command_names();

}  // namespace fast
