#pragma once

#include <functional>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"
#include "bench/compare/split.h"

namespace fast::compare {

/// Trains a cell with real gradients under a virtual clock, in this thread: each worker has, by
/// that clock, a core of its own. `shown(share of the budget)` is called as it goes on.
///
/// What the strategies of rounds learn does not depend on time, so slow workers, jitter and links
/// only change their clock.
[[nodiscard]] CellResult run_virtually(const Cell& cell, const Split& split,
                                       const std::function<void(double)>& shown);

/// The cell without what changes nothing but its time (slow workers, jitter, links), and on the
/// squarest grid of its size where neighbours do not matter, where its strategy learns the same
/// with and without; otherwise the cell itself.
[[nodiscard]] Cell timeless(const Cell& cell);

/// By any clock the cell learns the same: it goes by rounds, under a virtual clock.
[[nodiscard]] bool learns_by_any_clock(const Cell& cell);

/// The result of `cell`, from that of its timeless twin and the cell's own clock.
[[nodiscard]] CellResult retimed(const Cell& cell, CellResult twin);

}  // namespace fast::compare
