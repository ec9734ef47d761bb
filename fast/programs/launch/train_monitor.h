#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fast/programs/launch/launcher.h"
#include "fast/report/live_table.h"
#include "fast/run/metrics_tail.h"
#include "fast/run/run_folder.h"

namespace fast {

/// Shows a run's progress: follows every worker's metrics and updates the live table, or prints
/// plain lines. With `quiet` it shows only problems. One thread.
class TrainMonitor {
 public:
  TrainMonitor(const RunFolder& folder, int workers, bool quiet);

  void tick(const std::vector<WorkerProcess>& processes);
  void say(const std::string& line, bool bad);
  void finish();

  /// Waits until workers that died and were restarted by hand have ended, as long as they write
  /// metrics and `stopped` says no. Returns true where there was such a worker.
  bool wait_for_returned(double patience_seconds, const std::function<bool()>& stopped);

  /// Whether any worker has written its first line.
  [[nodiscard]] bool any_started() const;

 private:
  [[nodiscard]] double elapsed() const;
  void poll();
  /// Whether somebody else has started this worker since the launcher saw the end of its process.
  [[nodiscard]] bool returned(std::size_t rank) const;

  std::vector<MetricsTail> tails_;
  std::vector<std::optional<int>> ended_after_;  ///< starts of a worker when its process had ended
  std::vector<WorkerView> views_;
  LiveTable table_;
  bool quiet_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace fast
