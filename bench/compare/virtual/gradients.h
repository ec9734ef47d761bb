#pragma once

#include "bench/compare/cell_result.h"
#include "bench/compare/virtual/recorder.h"

namespace fast::compare {

/// stencil-gradients, for comparison with the first FAST: a worker sends each gradient to its
/// neighbours and applies theirs, when they have arrived, as optimizer steps of its own.
[[nodiscard]] CellResult run_gradients(const Cell& cell, const Split& split, Recorder& recorder);

}  // namespace fast::compare
