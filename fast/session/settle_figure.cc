#include "fast/session/settle_figure.h"

#include <utility>

#include "stencil/io/event_loop.h"

namespace fast {

using stencil::EventLoop;
using stencil::MutexLock;

SettleFigure::~SettleFigure() {
  const MutexLock lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void SettleFigure::follow(const stencil::Grid& grid) {
  {
    const MutexLock lock(mutex_);
    next_ = grid;
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  thread_ = std::jthread([this] { run(); });
}

bool SettleFigure::wait(stencil::Duration patience) {
  const stencil::TimePoint until = EventLoop::now() + patience;
  MutexLock lock(mutex_);
  while ((next_ || busy_) && changed_.wait_until(lock, until)) {
  }
  return !next_ && !busy_;
}

std::optional<stencil::Grid> SettleFigure::take() {
  MutexLock lock(mutex_);
  while (!next_ && !over_) changed_.wait(lock);
  if (over_) return std::nullopt;
  busy_ = true;
  return std::exchange(next_, std::nullopt);
}

bool SettleFigure::outdated() {
  const MutexLock lock(mutex_);
  return next_.has_value();
}

void SettleFigure::done() {
  const MutexLock lock(mutex_);
  busy_ = next_.has_value();
  changed_.notify_all();
}

void SettleFigure::run() {
  while (const std::optional<stencil::Grid> grid = take()) {
    const double threshold = grid->settle_threshold(target_);
    if (outdated()) continue;
    found_(threshold);
    done();
  }
}

}  // namespace fast
