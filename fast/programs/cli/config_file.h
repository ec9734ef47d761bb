#pragma once

#include <string>

#include "fast/programs/cli/options.h"

namespace fast {

/// Makes `app` read the file given to --config: TOML, whose keys are the app's options. Parsing
/// throws ConfigError, naming file, line and key, for an unknown key or a wrong type. `app` must
/// outlive the parsing.
void use_config_file(CLI::App& app);

}  // namespace fast
