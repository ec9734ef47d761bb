#include "fast/session/boundary_wait.h"

#include "stencil/io/event_loop.h"

namespace fast {

using stencil::EventLoop;

stencil::Pause BoundaryWait::begin(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  const stencil::TimePoint now = EventLoop::now();
  boundary_.begin(now, step);
  return boundary_.advance(now);
}

stencil::Pause BoundaryWait::wait() {
  std::unique_lock lock(mutex_);
  stencil::TimePoint now = EventLoop::now();
  while (!boundary_.over(now)) {
    changed_.wait_for(lock, boundary_.until() - now);
    now = EventLoop::now();
  }
  return boundary_.advance(now);
}

double BoundaryWait::likeness() {
  const std::lock_guard lock(mutex_);
  return boundary_.likeness(EventLoop::now());
}

void BoundaryWait::note(stencil::TimePoint now, const stencil::Engine& engine) {
  const std::lock_guard lock(mutex_);
  boundary_.note(now, engine);
  if (boundary_.over(now)) changed_.notify_all();
}

}  // namespace fast
