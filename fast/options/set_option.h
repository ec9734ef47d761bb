#pragma once

#include <string>
#include <string_view>

#include "fast/options/session_options.h"
#include "stencil/core/option_field.h"

namespace fast {

/// Sets the option named `key` ("phase_lock", or "phase-lock" as on a command line) to the value
/// that `text` gives, in the form of a command line. For a map of ranks, adds one or more entries
/// ("1=tcp://node1:5555,2=tcp://node2:5555") to those that it has. Throws ConfigError naming the
/// option, by `naming`, the value and the remedy; `options` are then unchanged.
void set_option(SessionOptions& options, std::string_view key, std::string_view text,
                stencil::OptionNaming naming = stencil::as_field);

}  // namespace fast
