#include "fast/programs/launch/pause_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "fast/error_text.h"
#include "fast/errors.h"
#include "fast/programs/launch/child_process.h"

namespace fast {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often a command that runs is looked at, and a wish that is waited for.
constexpr milliseconds kStep{50};
/// A shell's exit codes for a command that cannot be run, and that is not there.
constexpr int kNotRunnable = 126, kNotFound = 127;

constexpr char kRemedy[] =
    "use a command that ends by itself within seconds, with exit code 0 to pause and 1 to go on";

}  // namespace

PauseWatch::~PauseWatch() {
  {
    const stencil::MutexLock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void PauseWatch::watch(PauseSources sources) {
  sources_ = std::move(sources);
  if (sources_.file.empty() && sources_.command.empty()) return;
  if (!sources_.command.empty()) {
    bool answer = false;
    const std::string failed = ask(answer);
    if (!failed.empty()) {
      throw ConfigError(fmt::format("--pause-when '{}' {}", sources_.command, failed), kRemedy);
    }
    const stencil::MutexLock lock(mutex_);
    commanded_ = answer;
  }
  {
    const stencil::MutexLock lock(mutex_);
    look_at_file();
    update();
  }
  try {
    thread_ = std::thread([this] { keep_looking(); });
  } catch (const std::system_error& error) {
    throw stencil::ResourceError(
        std::string("cannot start a thread: ") + error.what(),
        "raise the limit of processes (ulimit -u) or of memory (ulimit -v)");
  }
}

void PauseWatch::refuse(std::string why) {
  const stencil::MutexLock lock(mutex_);
  refusal_ = std::move(why);
  signalled_ = false;
  update();
}

void PauseWatch::toggle() {
  std::string refusal;
  {
    const stencil::MutexLock lock(mutex_);
    if (refusal_.empty()) signalled_ = !signalled_;
    refusal = refusal_;
    update();
  }
  if (!refusal.empty()) log_(LogLevel::kWarning, "SIGUSR2 does not pause this worker: " + refusal);
}

std::string PauseWatch::why() const {
  const stencil::MutexLock lock(mutex_);
  if (signalled_) return "SIGUSR2 has come; the next one ends it";
  if (file_there_) return "the file " + sources_.file + " is there";
  if (commanded_) return "'" + sources_.command + "' ended with 0";
  return "it was wanted for a moment";
}

bool PauseWatch::wait(const std::atomic<bool>& stop, const std::function<void()>& waiting) {
  // A signal's thread sets `stop` and notifies nobody, so this polls.
  while (wanted_ && !stop) {
    if (waiting) waiting();
    stencil::MutexLock lock(mutex_);
    if (wanted_) changed_.wait_for(lock, sources_.look_every);
  }
  return !stop;
}

void PauseWatch::look_at_file() {
  if (sources_.file.empty()) return;
  std::error_code error;
  file_there_ = std::filesystem::exists(sources_.file, error);
}

void PauseWatch::update() {
  wanted_ = signalled_ || file_there_ || commanded_;
  changed_.notify_all();
}

std::string PauseWatch::ask(bool& answer) const {
  const Clock::time_point until = Clock::now() + sources_.answer_within;
  try {
    ChildProcess child("/bin/sh", {"-c", sources_.command}, {}, Reach::kGroup);
    while (!child.reap()) {
      if (Clock::now() >= until || ends_) {
        return fmt::format("has not ended within {} s",
                           std::chrono::duration<double>(sources_.answer_within).count());
      }
      pollfd output{child.descriptor(), POLLIN, 0};
      (void)poll(&output, child.descriptor() < 0 ? 0 : 1, static_cast<int>(kStep.count()));
      (void)child.read_output();
    }
    (void)child.read_output();
    const ChildExit& exit = child.exit();
    if (exit.signal != 0) return "was ended by " + signal_name(exit.signal);
    if (exit.code == kNotRunnable || exit.code == kNotFound) {
      const auto lines = child.last_lines();
      return fmt::format("cannot be run{}", lines.empty() ? "" : ": " + lines.back());
    }
    answer = exit.ok();
    return "";
  } catch (const std::exception& error) {
    return "cannot be run: " + error_text(error);
  }
}

void PauseWatch::keep_looking() {
  std::set<std::string> said;
  Clock::time_point ask_at = Clock::now() + sources_.ask_every;
  while (!ends_) {
    if (!sources_.command.empty() && Clock::now() >= ask_at) {
      bool answer = false;
      const std::string failed = ask(answer);
      ask_at = Clock::now() + sources_.ask_every;
      if (!failed.empty() && !ends_ && said.insert(failed).second) {
        log_(LogLevel::kWarning, fmt::format("--pause-when '{}' {}, and nothing changes; {}",
                                             sources_.command, failed, kRemedy));
      }
      const stencil::MutexLock lock(mutex_);
      if (failed.empty()) commanded_ = answer;
    }
    stencil::MutexLock lock(mutex_);
    look_at_file();
    update();
    if (!ends_) changed_.wait_for(lock, sources_.look_every);
  }
}

}  // namespace fast
