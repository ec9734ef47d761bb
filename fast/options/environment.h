#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fast/options/session_options.h"

namespace fast {

/// A variable's value; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// This process's environment.
[[nodiscard]] std::optional<std::string> read_environment(const std::string& name);

/// The variable of an option: "FAST_PHASE_LOCK" for "phase_lock". Command lines, sessions and
/// launchers all call it so.
[[nodiscard]] std::string environment_name(std::string_view key);

/// `options`, and over them what `environment` says: see SessionOptions::from_environment().
/// `host` is this host's name. `ranked`: the rank of `options` is known, so that neither a launcher
/// nor the host's name is asked for it.
[[nodiscard]] SessionOptions with_environment(SessionOptions options,
                                              const Environment& environment,
                                              const std::string& host, bool ranked = false);

/// Says which of these variables look like an option's and are none's, at level warning where one
/// is near, otherwise at level info.
void tell_unknown_variables(std::span<const std::string> names, const LogSink& log);
/// The same of this process's environment.
void tell_unknown_variables(const LogSink& log);

}  // namespace fast
