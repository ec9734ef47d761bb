#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "stencil/core/grid.h"
#include "stencil/core/types.h"

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
  void run(const std::stop_token& stop);

  const double target_;
  const std::function<void(double)> found_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<stencil::Grid> next_;
  bool busy_ = false;
  std::jthread thread_;  ///< from the first change on
};

}  // namespace fast
