#pragma once

#include <functional>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"
#include "bench/compare/split.h"

namespace fast::compare {

/// Trains a cell with real gradients under a virtual clock, in this thread; by that clock each
/// worker has a core of its own. Calls `shown(share of the budget)` during the run.
///
/// What strategies of rounds learn does not depend on time, so slow workers, jitter and links
/// change only their clock.
[[nodiscard]] CellResult run_virtually(const Cell& cell, const Split& split,
                                       const std::function<void(double)>& shown);

/// The timeless twin of a cell whose strategy learns the same without it: without slow workers,
/// jitter and links, which change only its time, and on the squarest grid of its size where
/// neighbours do not matter. Otherwise the cell itself.
[[nodiscard]] Cell timeless(const Cell& cell);

/// Whether the cell learns the same under any clock: it goes by rounds, under a virtual clock.
[[nodiscard]] bool learns_by_any_clock(const Cell& cell);

/// The result of `cell`, computed from its timeless twin's result and the cell's own clock.
[[nodiscard]] CellResult retimed(const Cell& cell, CellResult twin);

}  // namespace fast::compare
