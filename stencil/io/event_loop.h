#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stencil/core/types.h"

namespace stencil {

/// The one background thread of a worker: runs `turn` whenever a watched descriptor becomes
/// readable, wake() was called, or the time that the last turn asked for has come; sleeps
/// otherwise (no polling). Once some turns have passed, it allocates nothing. The only place where
/// Boost.Asio is used and the real clock is read.
class EventLoop {
 public:
  /// Called in the loop's thread with the current time; returns when to be called next at the
  /// latest (kNever: only on an event).
  using Turn = std::function<TimePoint(TimePoint now)>;

  EventLoop();
  /// Stops and joins. No turn runs after this.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Watches a descriptor that somebody else owns and keeps open until stop(). Before start() only.
  void watch(int descriptor);

  /// Starts the thread, with a first turn at once. `turn` must not throw; if it does all the same,
  /// the loop ends and `on_failure` (in the loop's thread) is told what().
  void start(Turn turn, std::function<void(const std::string&)> on_failure);

  /// Any thread; cheap; several wake-ups before a turn are one.
  void wake();

  /// Ends the thread after the turn in progress; idempotent; not from within a turn.
  void stop();

  /// The monotonic clock this loop runs by. Any thread.
  [[nodiscard]] static TimePoint now();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stencil
