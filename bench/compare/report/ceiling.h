#pragma once

#include <optional>

#include "bench/compare/cell.h"

namespace fast::compare {

/// How many times as fast as all-reduce a strategy that waits for nobody and whose messages cost
/// nothing would train under a cell's condition: samples per second of workers that only compute,
/// over those of all-reduce by RoundClock, which hides all it can, from step time, bytes and rate
/// alone. Nothing where the step time is not known (cells of real time).
[[nodiscard]] std::optional<double> speedup_ceiling(const Cell& cell, double model_bytes);

}  // namespace fast::compare
