#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"
#include "bench/compare/split.h"

namespace fast::compare {

struct RealRunOptions {
  std::string program;         ///< this program, which starts itself once for each worker
  std::filesystem::path runs;  ///< the folder of run folders
  DataPlaces places;
  int threads = 1;       ///< per worker
  double deadline = 60;  ///< seconds: longest wait of a worker for others
};

/// Trains a cell in real processes on this machine, in a run folder like that of `fast train`, and
/// evaluates the saved models. Calls `shown(share of the budget)` during the run. A run that fails
/// is a result too; see CellResult::failure. Throws ConfigError, FileError.
[[nodiscard]] CellResult run_really(const Cell& cell, const Split& split,
                                    const RealRunOptions& options,
                                    const std::function<void(double)>& shown);

}  // namespace fast::compare
