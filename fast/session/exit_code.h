#pragma once

#include <exception>

#include "fast/exit_codes.h"
#include "fast/session/exchange.h"

namespace fast {

/// The exit code of a program that `error` ends.
[[nodiscard]] ExitCode exit_code(const std::exception& error);
/// Of one whose session ended so: what others have not agreed with is not the run's result.
[[nodiscard]] ExitCode exit_code(Agreement agreement);

}  // namespace fast
