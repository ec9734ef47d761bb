#pragma once

#include <signal.h>

#include <atomic>
#include <thread>

namespace fast {

/// SIGINT, SIGTERM and SIGHUP as events instead of handlers: blocks them in the calling thread and
/// in all threads it starts afterwards (make one first thing in main), so that they arrive in
/// descriptor() alone. Optionally SIGCHLD too. The destructor restores the mask.
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
  int descriptor_ = -1;
  sigset_t old_mask_;
};

/// A thread that sets `stop` at the first such signal, and ends the process at once, with
/// ExitCode::kInterrupted, at the second.
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
