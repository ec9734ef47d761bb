#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

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

/// Distinguishes requests to end. One request often sends two signals: `timeout` signals its child
/// and then the child's group.
class StopRequests {
 public:
  using Clock = std::chrono::steady_clock;
  /// Signals within this time after the first belong to the same request.
  static constexpr std::chrono::seconds kOneRequest{2};

  enum class Meaning {
    kFirst,
    kSame,   ///< a signal of the first request
    kAgain,  ///< a second request
  };
  [[nodiscard]] Meaning on_signal(Clock::time_point now);

 private:
  std::optional<Clock::time_point> first_;
};

/// SIGINT, SIGTERM and SIGHUP as events instead of handlers: blocks them in the calling thread and
/// in all threads that it starts afterwards (make one at the beginning of main), so that they
/// arrive only in descriptor(). A thread that a library started before main (OpenBLAS does) blocks
/// them as soon as one reaches it, and passes that one on. Optionally SIGCHLD too. A signal that
/// was ignored stays ignored (nohup, background jobs of a script). The SIGHUP of a terminal that
/// has gone away is ignored too, since nobody asked the program to end. The destructor restores
/// the calling thread's mask and the handlers.
class SignalQueue {
 public:
  /// `more` are signals that are taken too.
  explicit SignalQueue(bool children, const std::vector<int>& more = {});
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Readable when next() has something. Closed on exec.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The number of a signal that has arrived; 0 where none has. Does not block.
  [[nodiscard]] int next();

 private:
  [[nodiscard]] bool terminal_gone() const;

  int descriptor_ = -1;
  sigset_t old_mask_;
  std::vector<std::pair<int, struct sigaction>> old_handlers_;  ///< by signal
  std::array<bool, 3> terminals_;  ///< which of stdin, stdout and stderr were terminals
};

/// A thread that sets `stop` at the first such signal. At the next request (see StopRequests) it
/// ends the process at once with ExitCode::kInterrupted. One that is not `heeded` yet, since nobody
/// looks at `stop` while the program starts, does so at the first. SIGUSR1 and SIGUSR2 are no such
/// requests: they call `asked` and `toggled` in that thread, where these are not empty.
class StopOnSignal {
 public:
  /// Throws ResourceError where no thread is to be had.
  explicit StopOnSignal(std::atomic<bool>& stop, bool heeded = true,
                        std::function<void()> asked = {}, std::function<void()> toggled = {});
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  /// Somebody looks at `stop` from now on.
  void heed() { heeded_ = true; }

 private:
  void watch();

  std::atomic<bool>& stop_;
  std::atomic<bool> heeded_;
  std::function<void()> asked_, toggled_;
  SignalQueue signals_;
  int end_ = -1;  ///< eventfd that ends the thread
  std::thread thread_;
};

}  // namespace fast
