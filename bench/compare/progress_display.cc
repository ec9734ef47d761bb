#include "bench/compare/progress_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/compare/seconds.h"

namespace fast::compare {

ProgressDisplay::ProgressDisplay(bool quiet, std::map<std::string, double> work)
    : quiet_(quiet), live_(!quiet && isatty(STDERR_FILENO) == 1), work_(std::move(work)) {
  for (const auto& [cell, seconds] : work_) left_ += seconds;
}

void ProgressDisplay::begin(const Cell& cell) {
  if (quiet_ || live_) return;
  const std::lock_guard lock(mutex_);
  fmt::print(stderr, "begin  {}\n", title(cell));
}

void ProgressDisplay::shown(const Cell& cell, double share) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  if (since(drawn_) < 0.2) return;
  drawn_ = Clock::now();
  fmt::print(stderr, "\r\x1b[K[{}/{}] {} {:.0f} %{}", done_, work_.size(), title(cell), 100 * share,
             remaining(work_[hash(cell)] * share));
}

void ProgressDisplay::end(const Cell& cell, const CellResult& result, double seconds) {
  const std::lock_guard lock(mutex_);
  ++done_;
  worked_ += work_[hash(cell)];
  left_ -= work_[hash(cell)];
  if (quiet_) return;
  const std::string outcome =
      result.diverged           ? "diverged"
      : !result.failure.empty() ? "failed: " + result.failure.substr(0, result.failure.find('\n'))
      : result.mean_model       ? fmt::format("{:.2f} %", 100 * *result.mean_model)
                                : "no model";
  fmt::print(stderr, "{}[{}/{}] {}: {}, {:.1f} s of {} time, took {}{}\n", live_ ? "\r\x1b[K" : "",
             done_, work_.size(), title(cell), outcome, result.training_seconds, name(cell.time),
             readable(seconds), remaining(0));
}

std::string ProgressDisplay::remaining(double under_way) const {
  const double worked = worked_ + under_way;
  if (worked <= 0 || left_ - under_way <= 0) return "";
  return fmt::format("; about {} left", readable(since(start_) * (left_ - under_way) / worked));
}

}  // namespace fast::compare
