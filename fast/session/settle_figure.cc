#include "fast/session/settle_figure.h"

#include <utility>

namespace fast {

SettleFigure::~SettleFigure() {
  thread_.request_stop();
}

void SettleFigure::follow(const stencil::Grid& grid) {
  {
    const std::lock_guard lock(mutex_);
    next_ = grid;
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

bool SettleFigure::wait(stencil::Duration patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return !next_ && !busy_; });
}

void SettleFigure::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return next_.has_value(); })) {
    const stencil::Grid grid = *std::exchange(next_, std::nullopt);
    busy_ = true;
    lock.unlock();
    const double threshold = grid.settle_threshold(target_);
    lock.lock();
    if (next_) continue;
    lock.unlock();
    found_(threshold);
    lock.lock();
    busy_ = next_.has_value();
    changed_.notify_all();
  }
}

}  // namespace fast
