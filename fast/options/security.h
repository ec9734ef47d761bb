#pragma once

#include <optional>
#include <string_view>

#include "fast/options/key_files.h"
#include "fast/options/session_options.h"
#include "stencil/core/option_field.h"

namespace fast {

/// Whether keys that a launcher made would be used: see SessionOptions::run_keys.
[[nodiscard]] bool takes_run_keys(const SessionOptions& options);

/// The key files that the options name; nothing where no keys are in use.
[[nodiscard]] std::optional<KeyFiles> key_files(const SessionOptions& options);

/// Whether other hosts can reach a listener at `endpoint`. A host name counts as reachable, except
/// "localhost".
[[nodiscard]] bool beyond_loopback(std::string_view endpoint);

/// Throws ConfigError where the options contradict each other, and where other hosts could connect
/// without keys.
void check_security(const SessionOptions& options, stencil::OptionNaming naming);

}  // namespace fast
