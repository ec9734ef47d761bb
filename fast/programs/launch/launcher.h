#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fast/programs/launch/child_process.h"
#include "fast/run/summary.h"

namespace fast {

struct LaunchOptions {
  std::string program;
  std::vector<std::vector<std::string>> arguments;  ///< one worker each; the index is its rank
  std::map<std::string, std::string> environment;   ///< added to ours; "" removes a variable
  /// Variables of one worker each, by rank, added to the above; may be shorter than `arguments`.
  std::vector<std::map<std::string, std::string>> own_environment{};
  /// What the signals reach that end a worker.
  Reach reach = Reach::kProcess;
  bool last_lines = true;    ///< says the last lines of a worker that failed
  bool same_signal = false;  ///< workers get the signal that came; otherwise SIGTERM
  double interval = 0.25;    ///< seconds between two ticks
  /// How often each worker that died is started again, with the same command.
  int restarts = 0;
  /// The least seconds between two starts of one worker, so that one that dies at once does not
  /// keep the machine busy.
  double restart_pause = 1;
  /// A worker that lives for so many seconds at most, and then ends by the exit code and in the
  /// last words of its life before, is not started again.
  double repeats_within = 600;
  /// Seconds that workers may take to end after Ctrl-C before they are killed.
  double stop_grace = 60;
  /// After one worker has finished, a worker that is stopped or uses no CPU time for so many
  /// seconds is killed, since nothing else would end it. 0: never.
  double stuck_after = 120;
};

/// One worker's process as the launcher sees it.
struct WorkerProcess {
  bool running = true;  ///< or about to be started again
  ChildExit exit;       ///< valid when it has ended
  int restarts = 0;     ///< how often it has been started again
};

struct LaunchObserver {
  /// Called at every interval and when a worker has ended; `processes` is indexed by rank.
  std::function<void(const std::vector<WorkerProcess>& processes)> tick;
  /// One line for people; `bad` where something went wrong.
  std::function<void(const std::string& line, bool bad)> say;
  /// The command line that restarts a worker that died. Null: people cannot.
  std::function<std::string(int rank)> how_to_restart{};
  /// Text that a worker has written to stdout or stderr, as it came; empty once it has ended.
  std::function<void(int rank, std::string_view text)> output{};
};

struct LaunchResult {
  std::vector<ChildExit> exits;  ///< by rank, of the last life
  std::vector<int> restarts;     ///< by rank: how often it was started again
  bool interrupted = false;      ///< by Ctrl-C, SIGTERM or SIGHUP
};

/// What a report tells of it.
[[nodiscard]] LaunchRecord record_of(const LaunchResult& result);

/// Whether a worker that ended like this died of something that may be over when it is started
/// again: a signal, or an exit code that does not stand for a mistake or for an end in good order.
[[nodiscard]] bool restart_may_help(const ChildExit& exit);

/// Starts all workers and watches them until the last has ended. A worker that dies stops no other,
/// and is started again as often as the options allow and where restart_may_help(), unless it ends
/// soon and in the words of its life before. The first SIGINT, SIGTERM or SIGHUP goes to all of
/// them and ends restarting. The next request (see StopRequests), or the end of `stop_grace`, kills
/// them. Call it while this process has one thread. Throws FileError where a worker cannot be
/// started for the first time; those started before are killed.
[[nodiscard]] LaunchResult launch(const LaunchOptions& options, const LaunchObserver& observer);

/// The exit code of `fast train`: kOk, kInterrupted, the common code where all workers failed
/// alike, otherwise kWorkerLost.
[[nodiscard]] int overall_code(const LaunchResult& result);

}  // namespace fast
