#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/run/metrics.h"

namespace fast {

/// The records of one rank.
struct WorkerRecords {
  int rank = 0;
  std::filesystem::path folder;
  WorkerHistory history;
  std::optional<std::filesystem::path> model;  ///< nothing where the worker saved none
};

/// A worker that a result lacks.
struct LeftOut {
  int rank = 0;
  std::string why;  ///< for people
};

/// The records of all ranks of one run, from one or more machines.
struct RunRecords {
  int expected = 0;                    ///< workers in the topology
  std::vector<WorkerRecords> workers;  ///< sorted by rank, each once; never empty
  std::vector<LeftOut> missing;        ///< without a folder or without a readable start, by rank

  /// Run id, topology, model ... are the same for all.
  [[nodiscard]] const WorkerStart& start() const { return workers.front().history.start; }
  /// Null for a missing rank.
  [[nodiscard]] const WorkerRecords* find(int rank) const;
};

/// Collects the worker-K folders below each of `run_dirs`, which may also name such a folder
/// itself. Throws FileError where there are none, where two hold the same rank, and where they
/// belong to different runs; the error names both folders.
[[nodiscard]] RunRecords read_run(std::span<const std::filesystem::path> run_dirs);

}  // namespace fast
