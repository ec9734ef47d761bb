#pragma once

#include <optional>
#include <string_view>

#include "fast/session/key_files.h"
#include "fast/session/session_options.h"
#include "stencil/core/option_field.h"

namespace fast {

/// Where the options say that keys lie; nothing where no keys are in use.
[[nodiscard]] std::optional<KeyFiles> key_files(const SessionOptions& options);

/// Whether hosts beside this one can reach what listens there. A name of this host's is taken to be
/// reachable, but for "localhost".
[[nodiscard]] bool beyond_loopback(std::string_view endpoint);

/// Throws ConfigError where the options contradict each other, where the transport proves no keys,
/// and where hosts beside this one could connect without any.
void check_security(const SessionOptions& options, stencil::OptionNaming naming);

}  // namespace fast
