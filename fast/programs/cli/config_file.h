#pragma once

#include <string>
#include <string_view>

#include "fast/programs/cli/options.h"

namespace fast {

/// Makes `app` read the file given to --config: TOML, whose keys are the app's options. Parsing
/// throws ConfigError, naming file, line and key, for an unknown key or a wrong type, and for a
/// text of run_config() that was cut off. `app` must outlive the parsing.
void use_config_file(CLI::App& app);

/// The config.toml of a run: `toml` under a line that names the run and counts the options, and
/// the command of one of its workers.
[[nodiscard]] std::string run_config(const std::string& run_id, const std::string& command,
                                     const std::string& toml);

/// The run that such a text names; "" where it names none.
[[nodiscard]] std::string run_of_config(std::string_view text);

}  // namespace fast
