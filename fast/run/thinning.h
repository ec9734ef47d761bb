#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fast/run/metrics.h"

namespace fast {

/// Above this number of progress lines, a metrics file, or a history that is read, is thinned, so
/// that a run of days takes no more memory than one of an hour.
inline constexpr std::size_t kMostProgressLines = 4096;

/// The same metrics with about half of kMostProgressLines progress lines, evenly spread over the
/// time that the lives took. All other lines are kept, and the first and the last progress of each
/// life; the last holds its sums.
[[nodiscard]] std::string thinned(std::string_view metrics);

/// The same for a history; keeps lines with a test accuracy.
void thin(WorkerHistory& history);

/// Whether thinned() may leave out this line of metrics.jsonl.
[[nodiscard]] bool is_progress_line(std::string_view line);

}  // namespace fast
