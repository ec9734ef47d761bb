#pragma once

#include <string>

#include "fast/programs/cli/options.h"

namespace fast {

/// Makes `app` read the file given to --config: TOML, whose keys are the app's options. A key that
/// is none of them, or of a wrong type, is a ConfigError that names file, line and key. `app` must
/// outlive the parsing.
void use_config_file(CLI::App& app);

}  // namespace fast
