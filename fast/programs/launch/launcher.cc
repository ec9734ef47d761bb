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

#include "fast/exit_codes.h"
#include "fast/programs/launch/signals.h"
#include "stencil/core/types.h"

namespace fast {
namespace {

using stencil::seconds;
using Clock = std::chrono::steady_clock;

class Launch {
 public:
  Launch(const LaunchOptions& options, const LaunchObserver& observer)
      : options_(options), observer_(observer), signals_(true) {
    for (const std::vector<std::string>& arguments : options.arguments) {
      workers_.push_back(
          std::make_unique<ChildProcess>(options.program, arguments, options.environment));
    }
    activity_.resize(workers_.size());
  }

  LaunchResult run() {
    Clock::time_point next_tick = Clock::now();
    while (running() > 0) {
      wait_until(next_tick);
      handle_signals();
      for (auto& worker : workers_) worker->read_output();
      reap();
      const Clock::time_point now = Clock::now();
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
    for (const auto& worker : workers_) result.exits.push_back(worker->exit());
    result.interrupted = interrupted_;
    return result;
  }

 private:
  [[nodiscard]] std::size_t running() const {
    return static_cast<std::size_t>(
        std::count_if(workers_.begin(), workers_.end(), [](auto& w) { return w->running(); }));
  }

  void tick() const {
    std::vector<WorkerProcess> processes;
    for (const auto& worker : workers_) processes.push_back({worker->running(), worker->exit()});
    observer_.tick(processes);
  }

  void wait_until(Clock::time_point time) {
    std::vector<pollfd> wait = {{signals_.descriptor(), POLLIN, 0}};
    for (const auto& worker : workers_) {
      if (worker->descriptor() >= 0) wait.push_back({worker->descriptor(), POLLIN, 0});
    }
    const double left = std::chrono::duration<double>(time - Clock::now()).count();
    poll(wait.data(), wait.size(), std::max(0, static_cast<int>(std::ceil(left * 1000))));
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
      observer_.say(fmt::format("{}: asking {} workers to end and save; once more, {} s from now, "
                                "kills them",
                                signal_name(signal), running(), StopRequests::kOneRequest.count()),
                    true);
      for (const auto& worker : workers_) {
        worker->signal(SIGTERM);
        worker->signal(SIGCONT);  // a stopped process gets the signal only then
      }
    }
  }

  void kill_all(const std::string& why) {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (!workers_[rank]->running()) continue;
      observer_.say(fmt::format("worker {} killed: {}", rank, why), true);
      workers_[rank]->signal(SIGKILL);
    }
    kill_at_.reset();
  }

  void reap() {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      ChildProcess& worker = *workers_[rank];
      if (!worker.reap()) continue;
      finished_ = finished_ || worker.exit().ok();
      tell_exit(static_cast<int>(rank), worker);
    }
  }

  void tell_exit(int rank, const ChildProcess& worker) {
    const ChildExit& exit = worker.exit();
    if (exit.ok()) return observer_.say(fmt::format("worker {} finished", rank), false);
    if (interrupted_ && exit.code == static_cast<int>(ExitCode::kInterrupted)) {
      return observer_.say(fmt::format("worker {} left in good order", rank), false);
    }
    observer_.say(exit.signal != 0
                      ? fmt::format("worker {} was ended by {}", rank, signal_name(exit.signal))
                      : fmt::format("worker {} failed with exit code {}", rank, exit.code),
                  true);
    for (const std::string& line : worker.last_lines()) observer_.say("    " + line, true);
    if (exit.signal != 0 && !interrupted_ && running() > 0) {
      observer_.say("    the others go on; to bring it back: " + observer_.how_to_restart(rank),
                    true);
    }
  }

  void kill_stuck(Clock::time_point now) {
    if (!finished_) return;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (!workers_[rank]->running()) continue;
      Activity& last = activity_[rank];
      std::string seen = workers_[rank]->activity();
      if (seen != last.seen || last.since == Clock::time_point()) {
        last = {std::move(seen), now};
      } else if (now - last.since > seconds(options_.stuck_after)) {
        observer_.say(fmt::format("worker {} killed: it has done nothing for {:.0f} s while others "
                                  "have finished",
                                  rank, options_.stuck_after),
                      true);
        workers_[rank]->signal(SIGKILL);
        last.since = now;
      }
    }
  }

  struct Activity {
    std::string seen;
    Clock::time_point since;
  };

  const LaunchOptions& options_;
  const LaunchObserver& observer_;
  SignalQueue signals_;
  StopRequests requests_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
  std::vector<Activity> activity_;
  bool interrupted_ = false;
  bool finished_ = false;  ///< at least one worker has finished successfully
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

LaunchResult launch(const LaunchOptions& options, const LaunchObserver& observer) {
  return Launch(options, observer).run();
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
