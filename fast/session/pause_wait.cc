#include "fast/session/pause_wait.h"

#include "stencil/io/event_loop.h"

namespace fast {

using stencil::EventLoop;

void PauseWait::wait() {
  stencil::MutexLock lock(mutex_);
  stencil::TimePoint now = EventLoop::now();
  while (!pauses_.over(now)) {
    over_.wait_for(lock, pauses_.until() - now);
    now = EventLoop::now();
  }
}

void PauseWait::wait(const std::function<bool()>& over) {
  for_part_ = true;
  stencil::MutexLock lock(mutex_);
  while (!over()) over_.wait_for(lock, pauses_.until() - EventLoop::now());
  for_part_ = false;
}

void PauseWait::note(stencil::TimePoint now, const stencil::Engine& engine) {
  pauses_.note(now, engine);
  if (!for_part_ && !pauses_.over(now)) return;
  const stencil::MutexLock lock(mutex_);
  over_.notify_all();
}

}  // namespace fast
