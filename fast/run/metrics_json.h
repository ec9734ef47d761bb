#pragma once

#include <string>

#include "fast/run/metrics.h"

namespace fast {

/// One line of metrics.jsonl, without its newline. Numbers that are not finite become null, which
/// parse_metrics_line() reads as NaN; invalid UTF-8 in texts is replaced.
[[nodiscard]] std::string to_metrics_line(const WorkerStart& start);
[[nodiscard]] std::string to_metrics_line(const WorkerProgress& progress);
[[nodiscard]] std::string to_metrics_line(const WorkerHistory::Event& event);
[[nodiscard]] std::string to_metrics_line(const WorkerEnd& end);

}  // namespace fast
