#pragma once

#include <string>
#include <string_view>

#include "fast/session/session_options.h"

namespace fast {

/// Sets the option named `key` ("phase_lock", or "phase-lock" as on a command line) to the value
/// that `text` says, as people write it on a command line. A map of ranks takes one entry or more
/// ("1=tcp://node1:5555,2=tcp://node2:5555") and keeps those it has. Throws ConfigError that names
/// the option, the value and the remedy; `options` then stay as they were.
void set_option(SessionOptions& options, std::string_view key, std::string_view text);

}  // namespace fast
