#include "fast/programs/launch/launcher.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "fast/exit_codes.h"
#include "fast/programs/launch/group_guard.h"
#include "fast/programs/launch/signals.h"
#include "stencil/core/types.h"

namespace fast {
namespace {

using stencil::seconds;
using Clock = std::chrono::steady_clock;

/// The last lines of a worker that two ends must have in common to count as one: of a traceback,
/// where it happened and what. Those before, as of losses, differ from life to life.
constexpr std::size_t kTellingLines = 4;

// What shells exit with where they cannot run a program.
constexpr int kCannotExecute = 126, kNotFound = 127;

std::string times(int count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

class Launch {
 public:
  Launch(const LaunchOptions& options, const LaunchObserver& observer)
      : options_(options), observer_(observer), signals_(true), workers_(options.arguments.size()) {
    if (options.reach == Reach::kGroup) guard_.emplace(options.stop_grace);
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) start(rank);
  }

  LaunchResult run() {
    Clock::time_point next_tick = Clock::now();
    while (awaited() > 0) {
      wait_until(next_tick);
      handle_signals();
      for (std::size_t rank = 0; rank < workers_.size(); ++rank) read_output(rank);
      reap();
      const Clock::time_point now = Clock::now();
      start_again(now);
      if (kill_at_ && now >= *kill_at_) {
        kill_all(fmt::format("still running {:.0f} s after the signal", options_.stop_grace));
      }
      if (now >= next_tick) {
        next_tick = now + seconds(options_.interval);
        kill_stuck(now);
        tick();
      }
    }
    tick();
    LaunchResult result;
    for (const Worker& worker : workers_) {
      result.exits.push_back(worker.process->exit());
      result.restarts.push_back(worker.restarts);
    }
    result.interrupted = interrupted_;
    return result;
  }

 private:
  struct Worker {
    std::unique_ptr<ChildProcess> process;
    Clock::time_point started;
    int restarts = 0;
    std::optional<Clock::time_point> start_at;  ///< it died, and is to be started again then
    bool stuck = false;                         ///< it was killed for that
    bool repeats = false;                       ///< it ended as its life before, see ended_alike()
    std::optional<ChildExit> before;            ///< the end of that life
    std::vector<std::string> telling{};         ///< its last lines
    std::string activity;                       ///< as last seen
    Clock::time_point active_since;             ///< when `activity` was first seen; or never

    [[nodiscard]] bool awaited() const { return process->running() || start_at; }
  };

  void start(std::size_t rank) {
    Worker& worker = workers_[rank];
    std::map<std::string, std::string> environment = options_.environment;
    if (rank < options_.own_environment.size()) {
      for (const auto& [name, value] : options_.own_environment[rank]) environment[name] = value;
    }
    worker.process = std::make_unique<ChildProcess>(options_.program, options_.arguments[rank],
                                                    environment, options_.reach);
    if (guard_) guard_->add(worker.process->pid());
    worker.started = Clock::now();
    worker.active_since = {};
  }

  [[nodiscard]] std::size_t awaited() const {
    return static_cast<std::size_t>(std::ranges::count_if(workers_, &Worker::awaited));
  }

  void tick() const {
    std::vector<WorkerProcess> processes;
    for (const Worker& worker : workers_) {
      processes.push_back({worker.awaited(), worker.process->exit(), worker.restarts});
    }
    observer_.tick(processes);
  }

  void wait_until(Clock::time_point time) {
    std::vector<pollfd> wait = {{signals_.descriptor(), POLLIN, 0}};
    for (const Worker& worker : workers_) {
      if (worker.start_at) time = std::min(time, *worker.start_at);
      const int output = worker.process->descriptor();
      if (output >= 0) wait.push_back({output, POLLIN, 0});
    }
    const double left = std::chrono::duration<double>(time - Clock::now()).count();
    poll(wait.data(), wait.size(), std::max(0, static_cast<int>(std::ceil(left * 1000))));
  }

  void read_output(std::size_t rank) {
    const std::string text = workers_[rank].process->read_output();
    if (observer_.output && !text.empty()) observer_.output(static_cast<int>(rank), text);
  }

  void handle_signals() {
    for (int signal = signals_.next(); signal != 0; signal = signals_.next()) {
      if (signal == SIGCHLD) continue;
      const StopRequests::Meaning meaning = requests_.on_signal(Clock::now());
      if (meaning == StopRequests::Meaning::kSame) continue;
      if (meaning == StopRequests::Meaning::kAgain) {
        kill_all(fmt::format("asked again by {}", signal_name(signal)));
        continue;
      }
      interrupted_ = true;
      kill_at_ = Clock::now() + seconds(options_.stop_grace);
      for (Worker& worker : workers_) worker.start_at.reset();
      observer_.say(
          fmt::format("{}: {} {} workers{}; once more, {} s from now, kills them",
                      signal_name(signal), options_.same_signal ? "passed on to" : "asking",
                      awaited(), options_.same_signal ? "" : " to end and save",
                      StopRequests::kOneRequest.count()),
          true);
      for (const Worker& worker : workers_) {
        worker.process->signal(options_.same_signal ? signal : SIGTERM);
        worker.process->signal(SIGCONT);  // a stopped process gets the signal only then
      }
    }
  }

  void kill_all(const std::string& why) {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (!workers_[rank].process->running()) continue;
      observer_.say(fmt::format("worker {} killed: {}", rank, why), true);
      workers_[rank].process->signal(SIGKILL);
    }
    kill_at_.reset();
  }

  void reap() {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      Worker& worker = workers_[rank];
      if (!worker.process->reap()) continue;
      if (guard_) guard_->remove(worker.process->pid());
      read_output(rank);
      if (observer_.output) observer_.output(static_cast<int>(rank), {});
      const ChildExit& exit = worker.process->exit();
      finished_ = finished_ || exit.ok();
      worker.repeats = ended_alike(worker);
      const bool again = !interrupted_ && !worker.stuck && !worker.repeats &&
                         restart_may_help(exit) && worker.restarts < options_.restarts;
      if (again) {
        worker.start_at = std::max(Clock::now(), worker.started + seconds(options_.restart_pause));
      }
      tick();
      tell_exit(static_cast<int>(rank), worker);
    }
  }

  /// Notes how a worker has ended, and whether it did so soon, by an exit code and in the words of
  /// its life before. What it says last tells of another step where there was one, as a session of
  /// Python does. A signal comes from elsewhere, time may free an address or bring a neighbour, and
  /// who says nothing may have ended by anything.
  [[nodiscard]] bool ended_alike(Worker& worker) const {
    const ChildExit& exit = worker.process->exit();
    std::vector<std::string> telling = worker.process->last_lines();
    if (telling.size() > kTellingLines) {
      telling.erase(telling.begin(), telling.end() - kTellingLines);
    }
    const auto code = static_cast<ExitCode>(exit.code);
    const bool by_itself =
        exit.signal == 0 && code != ExitCode::kNetwork && code != ExitCode::kDeadline;
    const bool soon = Clock::now() - worker.started <= seconds(options_.repeats_within);
    const bool alike =
        soon && by_itself && !telling.empty() && worker.before == exit && worker.telling == telling;
    worker.before = exit;
    worker.telling = std::move(telling);
    return alike;
  }

  void start_again(Clock::time_point now) {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      Worker& worker = workers_[rank];
      if (!worker.start_at || now < *worker.start_at) continue;
      worker.start_at.reset();
      try {
        start(rank);
        ++worker.restarts;
        observer_.say(fmt::format("worker {} started again ({} of {})", rank, worker.restarts,
                                  options_.restarts),
                      true);
      } catch (const std::exception& error) {
        observer_.say(fmt::format("worker {} cannot be started again: {}", rank, error.what()),
                      true);
      }
    }
  }

  void tell_exit(int rank, const Worker& worker) {
    const ChildExit& exit = worker.process->exit();
    if (exit.ok()) return observer_.say(fmt::format("worker {} finished", rank), false);
    if (interrupted_ && exit.code == static_cast<int>(ExitCode::kInterrupted)) {
      return observer_.say(fmt::format("worker {} left in good order", rank), false);
    }
    std::string line =
        exit.signal != 0 ? fmt::format("worker {} was ended by {}", rank, signal_name(exit.signal))
                         : fmt::format("worker {} failed with exit code {}", rank, exit.code);
    const bool given_up = !worker.start_at && !interrupted_ && restart_may_help(exit);
    if (worker.repeats && options_.restarts > worker.restarts && !interrupted_) {
      line += "; it is not started again, since it has ended as its life before, in the same words";
    } else if (given_up && worker.restarts > 0 && !worker.stuck) {
      line += fmt::format("; it has been started again {}, which is all that was allowed",
                          times(worker.restarts));
    }
    if (exit.signal == 0 && options_.restarts > 0 && !interrupted_ && !restart_may_help(exit)) {
      line += "; it is not started again, since with this code it would only end alike";
    }
    observer_.say(line, true);
    if (exit.signal == SIGKILL && !worker.stuck && !interrupted_) {
      observer_.say("    where nobody sent it, the machine was out of memory", true);
    }
    if (options_.last_lines) {
      for (const std::string& last : worker.process->last_lines()) {
        observer_.say("    " + last, true);
      }
    }
    if (given_up && exit.signal != 0 && awaited() > 0 && observer_.how_to_restart) {
      observer_.say("    the others go on; to bring it back: " + observer_.how_to_restart(rank),
                    true);
    }
  }

  void kill_stuck(Clock::time_point now) {
    if (!finished_ || options_.stuck_after <= 0) return;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      Worker& worker = workers_[rank];
      if (!worker.process->running()) continue;
      std::string seen = worker.process->activity();
      if (seen != worker.activity || worker.active_since == Clock::time_point()) {
        worker.activity = std::move(seen);
        worker.active_since = now;
      } else if (now - worker.active_since > seconds(options_.stuck_after)) {
        observer_.say(fmt::format("worker {} killed: it has done nothing for {:.0f} s while others "
                                  "have finished",
                                  rank, options_.stuck_after),
                      true);
        worker.process->signal(SIGKILL);
        worker.stuck = true;
        worker.active_since = now;
      }
    }
  }

  const LaunchOptions& options_;
  const LaunchObserver& observer_;
  SignalQueue signals_;
  StopRequests requests_;
  std::optional<GroupGuard> guard_;
  std::vector<Worker> workers_;
  bool interrupted_ = false;
  bool finished_ = false;  ///< at least one worker has finished successfully
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

bool restart_may_help(const ChildExit& exit) {
  if (exit.signal != 0) return true;
  switch (static_cast<ExitCode>(exit.code)) {
    case ExitCode::kOk:
    case ExitCode::kUsage:
    case ExitCode::kData:
    case ExitCode::kFile:
    case ExitCode::kRefused:
    case ExitCode::kNonFinite:
    case ExitCode::kModel:
    case ExitCode::kNoExchange:
    case ExitCode::kWorkerLost:
    case ExitCode::kNotLearnt:
    case ExitCode::kInterrupted:
      return false;
    default:
      return exit.code != kCannotExecute && exit.code != kNotFound;
  }
}

LaunchResult launch(const LaunchOptions& options, const LaunchObserver& observer) {
  return Launch(options, observer).run();
}

LaunchRecord record_of(const LaunchResult& result) {
  LaunchRecord out;
  for (std::size_t i = 0; i < result.exits.size(); ++i) {
    const int rank = static_cast<int>(i);
    out.exit_codes[rank] = result.exits[i].shell_code();
    out.restarts[rank] = result.restarts.at(i);
  }
  return out;
}

int overall_code(const LaunchResult& result) {
  if (result.interrupted) return static_cast<int>(ExitCode::kInterrupted);
  const auto& exits = result.exits;
  if (std::all_of(exits.begin(), exits.end(), [](const ChildExit& e) { return e.ok(); })) return 0;
  const ChildExit& first = exits.front();
  const bool alike = std::all_of(exits.begin(), exits.end(), [&](const ChildExit& e) {
    return e.signal == 0 && e.code == first.code;
  });
  return alike ? first.code : static_cast<int>(ExitCode::kWorkerLost);
}

}  // namespace fast
