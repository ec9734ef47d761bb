#pragma once

#include "bench/compare/cell_result.h"
#include "bench/compare/virtual/recorder.h"

namespace fast::compare {

/// stencil-async and stencil-bounded:K: the workers of stencil/sim, with the product's own pump,
/// mixer and engine, train real models.
[[nodiscard]] CellResult run_stencil(const Cell& cell, const Split& split, Recorder& recorder);

}  // namespace fast::compare
