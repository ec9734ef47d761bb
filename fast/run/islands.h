#pragma once

#include <span>
#include <vector>

#include "fast/run/run_records.h"

namespace fast {

/// The parts of a run whose models never met, or no longer met when it ended: `ranks`, grouped by
/// the edges that carried exchanges and were in use to the end, as either end's last record tells.
/// The largest first, of equals the one with the lowest rank; ranks are sorted. One part where
/// records name no edges (another strategy than the grid's) or the run was in lock step, which
/// needs every edge.
[[nodiscard]] std::vector<std::vector<int>> islands(const RunRecords& records,
                                                    std::span<const int> ranks);

}  // namespace fast
