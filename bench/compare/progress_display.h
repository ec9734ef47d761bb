#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"

namespace fast::compare {

/// The progress on stderr while cells run: a line for each finished cell and, on a terminal, one
/// that changes. Any thread.
class ProgressDisplay {
 public:
  /// `work`: the estimated seconds of each cell, by its hash.
  ProgressDisplay(bool quiet, std::map<std::string, double> work);

  void begin(const Cell& cell);
  /// `share` of the cell's budget is done.
  void shown(const Cell& cell, double share);
  void end(const Cell& cell, const CellResult& result, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string remaining(double under_way) const;

  bool quiet_, live_;
  std::mutex mutex_;
  std::map<std::string, double> work_;
  std::size_t done_ = 0;
  double worked_ = 0, left_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_{};
};

}  // namespace fast::compare
