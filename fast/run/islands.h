#pragma once

#include <span>
#include <vector>

#include "fast/run/run_records.h"

namespace fast {

/// The parts of a run whose models never met, or no longer met when it ended. Groups `ranks` by the
/// edges that carried exchanges and were in use to the end, by either end's last record (of a life
/// in which it made steps, and of what came after). The
/// largest part comes first; among equals, the one with the lowest rank. Ranks are sorted. There is
/// one part where records name no edges (another strategy than the grid's) or where the run was in
/// lock step, which needs every edge.
[[nodiscard]] std::vector<std::vector<int>> islands(const RunRecords& records,
                                                    std::span<const int> ranks);

}  // namespace fast
