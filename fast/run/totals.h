#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fast/run/run_records.h"

namespace fast {

/// What one worker did in all its lives. Counters begin at 0 in each life, so their last values are
/// added up.
struct WorkerTotals {
  std::uint64_t samples = 0, sweeps = 0, bytes = 0, bytes_shared = 0;
  double exchange_seconds = 0, training_seconds = 0;
  double trained_until = 0;  ///< time of the last line in state "training"; 0 where there is none
  double last_time = 0;      ///< time of its last line, on the worker's own time axis
  std::optional<double> test_accuracy;  ///< the last that it measured
  struct Link {
    std::uint64_t sweeps = 0, bytes = 0;
    double round_trip_ms = 0;  ///< the last that was not 0
    bool other_grid = false;   ///< as of the last line
  };
  std::map<int, Link> links;  ///< by neighbour
};

[[nodiscard]] WorkerTotals totals_of(const WorkerHistory& history);

/// Both directions of one edge together.
struct EdgeTotals {
  std::array<int, 2> ranks{};  ///< of both ends, the smaller first
  std::uint64_t sweeps = 0, bytes = 0;
  double round_trip_ms = 0;  ///< mean over the directions that have one
  bool other_grid = false;   ///< its ends had not made the same changes of the grid at last
};

/// Sorted. Leaves out edges that neither end reported.
[[nodiscard]] std::vector<EdgeTotals> edge_totals(const RunRecords& records);

}  // namespace fast
