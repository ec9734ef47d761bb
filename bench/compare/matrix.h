#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/cell_store.h"
#include "bench/compare/real/real_run.h"
#include "bench/compare/report/table.h"
#include "bench/compare/spec.h"

namespace fast::compare {

struct MatrixOptions {
  RealRunOptions real;
  int jobs = 1;  ///< cells of virtual time in parallel
  bool quiet = false;
  double hours = 0;  ///< begin no new cell after this time; 0: no limit
};

/// Runs every cell of a spec that the store does not hold yet. Shows the progress and the estimated
/// time, and stores each result as soon as it is done. Real cells run one after another, alone.
/// Returns the finished cells. Throws Interrupted, ConfigError, DataError, FileError.
[[nodiscard]] std::vector<Finished> run_matrix(const Spec& spec, const CellStore& store,
                                               const MatrixOptions& options);

/// The cells of a spec that the store holds; runs nothing.
[[nodiscard]] std::vector<Finished> finished_cells(const Spec& spec, const CellStore& store);

}  // namespace fast::compare
