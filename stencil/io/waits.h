#pragma once

#include <functional>
#include <memory>

#include "stencil/core/types.h"

// What waits on an EventLoop. Used by its thread (see EventLoop::check_thread()), and destroyed
// before it. A function is called
// once for each wait, within EventLoop::wait() or poll(), and never after its object's destructor.
// It should note what happened and leave the work to the next turn.
namespace stencil {

class EventLoop;

/// Waits for a descriptor that somebody else owns, and keeps open for as long.
class Watch {
 public:
  /// Waits for nothing yet. Throws ResourceError where the system cannot watch the descriptor.
  Watch(EventLoop& loop, int descriptor, std::function<void()> on_readable,
        std::function<void()> on_writable = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Begins to wait until the descriptor is readable (which it may be already), has ended or has
  /// failed; nothing new where such a wait is under way.
  void wait_readable();
  void wait_writable();

 private:
  struct State;
  struct Wait;
  void wait(Wait& wait);
  std::shared_ptr<State> state_;
};

/// Waits for a time.
class Alarm {
 public:
  Alarm(EventLoop& loop, std::function<void()> on_time);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// In place of the time before, if there is one.
  void set(TimePoint time);
  void set_after(Duration duration);
  void cancel();

 private:
  void begin();
  void end();
  struct State;
  std::shared_ptr<State> state_;
};

/// Waits for word from any thread.
class Signal {
 public:
  Signal(EventLoop& loop, std::function<void()> on_raised);
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// Any thread; cheap. Raised several times before the function is called is raised once; the
  /// function sees what was done before.
  void raise();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stencil
