#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "stencil/core/grid.h"
#include "stencil/core/types.h"
#include "stencil/threads/mutex.h"

namespace fast {

/// Computes Grid::settle_threshold() of a grid that has changed on a thread of its own, since it
/// takes seconds for thousands of workers. The threshold matters at the end of a run alone. It is
/// used by one thread.
class SettleFigure {
 public:
  /// `found` is called on the other thread, with the figure of the newest grid.
  SettleFigure(double target, std::function<void(double)> found)
      : target_(target), found_(std::move(found)) {}
  /// Waits for a figure that is being computed.
  ~SettleFigure();
  SettleFigure(const SettleFigure&) = delete;
  SettleFigure& operator=(const SettleFigure&) = delete;

  /// Never waits for a figure that is being computed.
  void follow(const stencil::Grid& grid);
  /// Waits until found() has been called for the last grid, `patience` at most. False: it has not.
  bool wait(stencil::Duration patience);

 private:
  void run();
  /// The newest grid, once there is one; nothing where no more are to come.
  std::optional<stencil::Grid> take();
  /// Whether a newer grid has come.
  bool outdated();
  /// The figure of the grid that was taken last has been told.
  void done();

  const double target_;
  const std::function<void(double)> found_;
  stencil::Mutex mutex_;
  stencil::Condition changed_;
  std::optional<stencil::Grid> next_ FAST_GUARDED_BY(mutex_);
  bool busy_ FAST_GUARDED_BY(mutex_) = false;
  bool over_ FAST_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  ///< from the first change on
};

}  // namespace fast
