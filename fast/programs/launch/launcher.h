#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fast/programs/launch/child_process.h"

namespace fast {

struct LaunchOptions {
  std::string program;
  std::vector<std::vector<std::string>> arguments;  ///< one worker each; the index is its rank
  std::map<std::string, std::string> environment;   ///< added to ours, "" removing a variable
  double interval = 0.25;                           ///< seconds between two ticks
  /// Seconds that workers may take to end after Ctrl-C before they are killed.
  double stop_grace = 60;
  /// A worker that is stopped or uses no time at all for so many seconds, after another one has
  /// finished, is killed: nothing would ever end it.
  double stuck_after = 120;
};

/// One worker's process as the launcher sees it.
struct WorkerProcess {
  bool running = true;
  ChildExit exit;  ///< once it has ended
};

struct LaunchObserver {
  /// Every interval and after the last has ended; `processes` is indexed by rank.
  std::function<void(const std::vector<WorkerProcess>& processes)> tick;
  /// One line for people; `bad` where something went wrong.
  std::function<void(const std::string& line, bool bad)> say;
  /// How a worker that died could be brought back: a command line.
  std::function<std::string(int rank)> how_to_restart;
};

struct LaunchResult {
  std::vector<ChildExit> exits;  ///< by rank
  bool interrupted = false;      ///< by Ctrl-C, SIGTERM or SIGHUP
};

/// Starts all workers and watches them until the last has ended. The first SIGINT, SIGTERM or
/// SIGHUP goes to all of them as SIGTERM, the next request (see StopRequests) kills them, and so
/// does `stop_grace`; a worker that dies stops nobody else. Must be called while this process has
/// one thread. Throws FileError where a worker cannot be started (those that were are killed).
[[nodiscard]] LaunchResult launch(const LaunchOptions& options, const LaunchObserver& observer);

/// What `fast train` ends with: kOk; kInterrupted; the common code where all failed alike;
/// otherwise kWorkerLost.
[[nodiscard]] int overall_code(const LaunchResult& result);

}  // namespace fast
