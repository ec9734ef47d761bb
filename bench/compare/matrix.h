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
  int jobs = 1;  ///< cells of virtual time side by side
  bool quiet = false;
  double hours = 0;  ///< stop beginning new cells after so long; 0: no limit
};

/// Makes every cell of a spec that the store does not hold yet, tells how it goes on and how long
/// it will take, and keeps each as soon as it is done. Real cells run one after another, alone.
/// Returns those that are finished. Throws Interrupted, ConfigError, DataError, FileError.
[[nodiscard]] std::vector<Finished> run_matrix(const Spec& spec, const CellStore& store,
                                               const MatrixOptions& options);

/// Of a spec's cells those that the store holds; nothing is made.
[[nodiscard]] std::vector<Finished> finished_cells(const Spec& spec, const CellStore& store);

}  // namespace fast::compare
