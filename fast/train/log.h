#pragma once

#include <filesystem>
#include <string>

#include "fast/train/log_style.h"
#include "stencil/core/types.h"

namespace fast {

/// A log that writes to `file` (appending) and, unless `quiet`, to standard error, there in
/// `style`. `level`: "debug" | "info" | "warning" | "error". The sink may be called from any
/// thread. Throws ConfigError for an unknown level, FileError where the file cannot be written.
[[nodiscard]] stencil::LogSink make_log(const std::filesystem::path& file, const std::string& level,
                                        bool quiet, LogStyle style, int rank);

}  // namespace fast
