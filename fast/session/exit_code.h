#pragma once

#include <exception>

#include "fast/exit_codes.h"

namespace fast {

/// The exit code of a program that `error` ends.
[[nodiscard]] ExitCode exit_code(const std::exception& error);

}  // namespace fast
