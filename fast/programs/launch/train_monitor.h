#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "fast/programs/launch/launcher.h"
#include "fast/report/live_table.h"
#include "fast/run/metrics_tail.h"
#include "fast/run/run_folder.h"

namespace fast {

/// What a run shows while it goes on: follows every worker's metrics and keeps the live table, or
/// plain lines; `quiet` leaves only what went wrong. One thread.
class TrainMonitor {
 public:
  TrainMonitor(const RunFolder& folder, int workers, bool quiet);

  void tick(const std::vector<WorkerProcess>& processes);
  void say(const std::string& line, bool bad);
  void finish();

  /// A worker that died and was started again by hand, not by us, goes on without the launcher:
  /// waits until all such have ended, as long as they show life. True where there was any.
  bool wait_for_returned(double patience_seconds);

  /// Has any worker got as far as to write its first line?
  [[nodiscard]] bool any_started() const;

 private:
  [[nodiscard]] double elapsed() const;
  void poll();

  std::vector<MetricsTail> tails_;
  std::vector<WorkerView> views_;
  LiveTable table_;
  bool quiet_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace fast
