#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "fast/options/session_options.h"
#include "fast/train/worker.h"
#include "stencil/threads/mutex.h"

namespace fast {

/// What a user's pause may come from, and how often that is looked at.
struct PauseSources {
  std::string file;                             ///< the worker pauses while it exists; empty: none
  std::string command;                          ///< of the shell, exit code 0: pause; empty: none
  std::chrono::milliseconds look_every{250};    ///< at the file
  std::chrono::milliseconds ask_every{60'000};  ///< the command
  std::chrono::milliseconds answer_within{10'000};  ///< of the command
};

/// Whether a user wants a worker to pause: by a signal, a file or a command, each of which is
/// enough. A command that hangs or cannot be run changes nothing; that is logged once for each
/// cause. Any thread.
class PauseWatch final : public PauseWish {
 public:
  explicit PauseWatch(LogSink log) : log_(std::move(log)) {}
  ~PauseWatch() override;
  PauseWatch(const PauseWatch&) = delete;
  PauseWatch& operator=(const PauseWatch&) = delete;

  /// Begins to look at these, once now, and from then on in a thread. Call it once at most. Throws
  /// ConfigError for a command that hangs or cannot be run, ResourceError where no thread is to be
  /// had.
  void watch(PauseSources sources);
  /// Pauses cannot be; `why` is said where one is asked for by a signal.
  void refuse(std::string why);
  /// The signal: pause, or go on.
  void toggle();

  [[nodiscard]] bool wanted() const override { return wanted_; }
  [[nodiscard]] std::string why() const override;
  [[nodiscard]] bool wait(const std::atomic<bool>& stop,
                          const std::function<void()>& waiting) override;

 private:
  void look_at_file() FAST_REQUIRES(mutex_);
  void update() FAST_REQUIRES(mutex_);
  /// Runs the command. Returns why it gave no answer; "" where it did, and `answer` is it.
  [[nodiscard]] std::string ask(bool& answer) const;
  void keep_looking();

  LogSink log_;
  PauseSources sources_;  ///< constant once watch() has returned
  std::atomic<bool> wanted_ = false;
  std::atomic<bool> ends_ = false;

  mutable stencil::Mutex mutex_;
  stencil::Condition changed_;
  bool signalled_ FAST_GUARDED_BY(mutex_) = false;
  bool file_there_ FAST_GUARDED_BY(mutex_) = false;
  bool commanded_ FAST_GUARDED_BY(mutex_) = false;
  std::string refusal_ FAST_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace fast
