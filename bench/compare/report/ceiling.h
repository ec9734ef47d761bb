#pragma once

#include <optional>

#include "bench/compare/cell.h"

namespace fast::compare {

/// The upper bound of a speed-up over all-reduce under a cell's condition: samples per second of
/// workers that only compute, divided by those of all-reduce by RoundClock, which hides all
/// communication that it can. Computed from step time, bytes and rate. Nothing where the step time
/// is not known (cells of real time).
[[nodiscard]] std::optional<double> speedup_ceiling(const Cell& cell, double model_bytes);

}  // namespace fast::compare
