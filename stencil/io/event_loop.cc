// Handlers only note what happened; the thread's own loop then runs one turn for all of it:
//
//   1. turn; it handles everything there is, and lets wait again what had been waited for
//   2. set the alarm to the time that the turn has asked for
//   3. sleep until somebody asks for a turn
//
// To wait again only after the work loses nothing: a wait completes at once on a descriptor that is
// readable when the wait begins. Before the work it would report each event twice.

#include "stencil/io/event_loop.h"

#include <new>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/io/context.h"

namespace stencil {

EventLoop::EventLoop()
    : context_(std::make_unique<IoContext>()),
      wake_(*this, [this] { ask(); }),
      alarm_(*this, [this] {
        alarm_time_ = kNever;
        late_ = true;
      }) {}

EventLoop::~EventLoop() {
  stop();
}

void EventLoop::start(Turn turn, std::function<void(const std::string&)> on_failure) {
  const MutexLock lock(join_mutex_);
  if (thread_.joinable()) throw InvariantError("EventLoop::start() called twice");
  thread_ = std::thread([this, turn = std::move(turn), on_failure = std::move(on_failure)] {
    context_->thread.take();
    try {
      run(turn);
    } catch (const std::bad_alloc&) {
      if (on_failure) on_failure("out of memory; free some, or use a smaller model");
    } catch (const std::exception& failure) {
      if (on_failure) on_failure(failure.what());
    } catch (...) {
      if (on_failure) on_failure("an exception of unknown type");
    }
  });
}

void EventLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  wake();
  const MutexLock lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
  context_->thread.give();
}

void EventLoop::check_thread(const char* what) const {
  context_->thread.check(what);
}

void EventLoop::ask() {
  check_thread("EventLoop::ask()");
  asked_ = true;
}

void EventLoop::run(const Turn& turn) {
  while (!stopping_.load(std::memory_order_acquire)) (void)wait(turn(now()));
}

void EventLoop::poll() {
  check_thread("EventLoop::poll()");
  context_->asio.poll();
}

bool EventLoop::wait(TimePoint until) {
  check_thread("EventLoop::wait()");
  late_ = until <= now();
  if (late_ || asked_) {
    poll();
  } else {
    set_alarm(until);
    while (!asked_ && !late_) context_->asio.run_one();
  }
  return std::exchange(asked_, false);
}

void EventLoop::set_alarm(TimePoint time) {
  if (time == alarm_time_) return;
  alarm_time_ = time;
  if (time == kNever) {
    alarm_.cancel();
  } else {
    alarm_.set(time);
  }
}

TimePoint EventLoop::now() {
  return std::chrono::steady_clock::now();
}

}  // namespace stencil
