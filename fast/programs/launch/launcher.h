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
  std::map<std::string, std::string> environment;   ///< added to ours; "" removes a variable
  double interval = 0.25;                           ///< seconds between two ticks
  /// Seconds that workers may take to end after Ctrl-C before they are killed.
  double stop_grace = 60;
  /// After one worker has finished, a worker that is stopped or uses no CPU time for so many
  /// seconds is killed, since nothing else would end it.
  double stuck_after = 120;
};

/// One worker's process as the launcher sees it.
struct WorkerProcess {
  bool running = true;
  ChildExit exit;  ///< valid when it has ended
};

struct LaunchObserver {
  /// Called at every interval and after the last worker has ended; `processes` is indexed by rank.
  std::function<void(const std::vector<WorkerProcess>& processes)> tick;
  /// One line for people; `bad` where something went wrong.
  std::function<void(const std::string& line, bool bad)> say;
  /// The command line that restarts a worker that died.
  std::function<std::string(int rank)> how_to_restart;
};

struct LaunchResult {
  std::vector<ChildExit> exits;  ///< by rank
  bool interrupted = false;      ///< by Ctrl-C, SIGTERM or SIGHUP
};

/// Starts all workers and watches them until the last has ended. The first SIGINT, SIGTERM or
/// SIGHUP goes to all of them as SIGTERM. The next request (see StopRequests), or the end of
/// `stop_grace`, kills them. A worker that dies stops no other. Call it while this process has one
/// thread. Throws FileError where a worker cannot be started; those started before are killed.
[[nodiscard]] LaunchResult launch(const LaunchOptions& options, const LaunchObserver& observer);

/// The exit code of `fast train`: kOk, kInterrupted, the common code where all workers failed
/// alike, otherwise kWorkerLost.
[[nodiscard]] int overall_code(const LaunchResult& result);

}  // namespace fast
