#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace fast {

/// Neither a closed pipe nor a limit of file sizes ends this process while this lives: writing
/// fails instead (SIGPIPE and SIGXFSZ are ignored).
class WritesMayFail {
 public:
  WritesMayFail();
  ~WritesMayFail();
  WritesMayFail(const WritesMayFail&) = delete;
  WritesMayFail& operator=(const WritesMayFail&) = delete;

 private:
  struct sigaction old_pipe_, old_size_;
};

/// Tells requests to end from each other. Whoever asks often does it twice at once: `timeout`
/// signals its child and then the child's group.
class StopRequests {
 public:
  using Clock = std::chrono::steady_clock;
  /// Signals that come so soon after the first are one request with it.
  static constexpr std::chrono::seconds kOneRequest{2};

  enum class Meaning {
    kFirst,
    kSame,   ///< of the first request
    kAgain,  ///< whoever asks has lost patience
  };
  [[nodiscard]] Meaning on_signal(Clock::time_point now);

 private:
  std::optional<Clock::time_point> first_;
};

/// SIGINT, SIGTERM and SIGHUP as events instead of handlers: blocks them in the calling thread and
/// in all threads it starts afterwards (make one first thing in main), so that they arrive in
/// descriptor() alone. Optionally SIGCHLD too. A signal that was ignored stays ignored (nohup, jobs
/// in the background of a script), and so is the SIGHUP of a terminal that has gone away: nobody
/// asked the program to end. The destructor restores the mask.
class SignalQueue {
 public:
  explicit SignalQueue(bool children);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Readable when next() has something. Closed on exec.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The number of a signal that arrived, 0 where none has. Does not block.
  [[nodiscard]] int next();

 private:
  [[nodiscard]] bool terminal_gone() const;

  int descriptor_ = -1;
  sigset_t old_mask_;
  std::array<bool, 3> terminals_;  ///< which of stdin, stdout and stderr were one
};

/// A thread that sets `stop` at the first such signal, and ends the process at once, with
/// ExitCode::kInterrupted, at the next request (see StopRequests).
class StopOnSignal {
 public:
  explicit StopOnSignal(std::atomic<bool>& stop);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  void watch();

  std::atomic<bool>& stop_;
  SignalQueue signals_;
  int end_ = -1;  ///< eventfd that ends the thread
  std::thread thread_;
};

}  // namespace fast
