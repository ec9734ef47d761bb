#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "stencil/core/types.h"
#include "stencil/io/waits.h"
#include "stencil/threads/mutex.h"

namespace stencil {

struct IoContext;

/// The one background thread of a worker, and all that it waits for: sockets, times and signals of
/// any number of objects (waits.h). It runs a turn whenever one of them has asked for it, wake()
/// was called, or the time that the last turn asked for has come; it sleeps otherwise. Once some
/// turns have passed, it allocates nothing. Whoever has a thread of its own calls wait() there and
/// starts none. The only place where Boost.Asio is used and the real clock is read.
///
/// Clang takes its thread for something that is held: a member is FAST_GUARDED_BY(loop), a function
/// FAST_REQUIRES(loop).
class FAST_CAPABILITY("thread") EventLoop {
 public:
  /// Called in the loop's thread with the current time; returns when to be called next at the
  /// latest (kNever: only when asked for).
  using Turn = std::function<TimePoint(TimePoint now)>;

  EventLoop();
  /// Stops and joins. No turn runs after this.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Starts the thread, with a first turn at once. `turn` must not throw; if it does all the same,
  /// the loop ends and `on_failure` (in the loop's thread) is told what().
  void start(Turn turn, std::function<void(const std::string&)> on_failure);

  /// Ends the thread after the turn in progress; idempotent; not from within a turn. From then on
  /// whoever has called it is the loop's thread.
  void stop();

  /// Any thread; cheap; several wake-ups before a turn are one.
  void wake() { wake_.raise(); }

  // The loop's thread: the one that runs turns, or before start() and after stop() its owner's.

  /// Throws InvariantError on another thread, in builds that check threads (thread_check.h). `what`
  /// is the function that belongs to the loop's.
  void check_thread(const char* what) const FAST_ASSERT_CAPABILITY(this);

  /// Asks for a turn, after the present one where one is under way.
  void ask();
  /// Lets all that has happened be noted, without waiting; for use within a turn.
  void poll();
  /// Sleeps until a turn is asked for, or this time has come. Returns whether one was.
  bool wait(TimePoint until);
  bool wait_for(Duration duration) { return wait(now() + duration); }

  /// The monotonic clock this loop runs by. Any thread.
  [[nodiscard]] static TimePoint now();

  /// For what waits.
  [[nodiscard]] IoContext& context() { return *context_; }

 private:
  void run(const Turn& turn);
  void set_alarm(TimePoint time);

  std::unique_ptr<IoContext> context_;
  Signal wake_;

  // The loop's thread.
  Alarm alarm_;
  TimePoint alarm_time_ = kNever;
  bool asked_ = false, late_ = false;

  std::atomic<bool> stopping_{false};
  Mutex join_mutex_;
  std::thread thread_ FAST_GUARDED_BY(join_mutex_);
};

}  // namespace stencil
