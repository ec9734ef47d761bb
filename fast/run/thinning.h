#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fast/run/metrics.h"

namespace fast {

/// Progress lines beyond which a metrics file, and a history that is read, are thinned: a run of
/// days takes no more memory than one of an hour.
inline constexpr std::size_t kMostProgressLines = 4096;

/// The same metrics with about half of kMostProgressLines progress lines, evenly spread over the
/// time that the lives took. All other lines are kept, and the first and the last progress of each
/// life; the last holds its sums.
[[nodiscard]] std::string thinned(std::string_view metrics);

/// The same of a history; what has a test accuracy is kept.
void thin(WorkerHistory& history);

/// Whether a line of metrics.jsonl is one of those that thinned() may leave out.
[[nodiscard]] bool is_progress_line(std::string_view line);

}  // namespace fast
