#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fast/run/metrics.h"

namespace fast {

/// Follows one metrics.jsonl while a worker writes it. One thread.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path file) : file_(std::move(file)) {}

  /// What the file holds by now is of earlier lives, and passed over.
  void skip();

  /// Reads the complete lines appended since the last call; a line still being written waits for
  /// the next. A file that is not there yet has no lines. One that became shorter is read again
  /// from its beginning; where that is the same it was thinned, and what is no progress is passed
  /// over as far as it was seen. Returns the events that came. Never throws; reads at most a few
  /// MiB a call, so that a launcher stays live.
  std::vector<WorkerHistory::Event> poll();

  /// The latest of each. A new "start" line forgets the earlier life's progress and end.
  [[nodiscard]] const std::optional<WorkerStart>& start() const { return start_; }
  [[nodiscard]] const std::optional<WorkerProgress>& progress() const { return progress_; }
  [[nodiscard]] const std::optional<WorkerEnd>& end() const { return end_; }
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] int unreadable_lines() const { return unreadable_; }

 private:
  void take(const std::string& line, std::vector<WorkerHistory::Event>& events);
  void begin_again();
  [[nodiscard]] std::string first_line() const;

  std::filesystem::path file_;
  std::uintmax_t offset_ = 0;  ///< of what has not been read
  std::string partial_;        ///< the beginning of a line
  std::string first_line_;
  std::size_t other_lines_ = 0;  ///< seen that are no progress, as thinning leaves them
  std::size_t seen_before_ = 0;  ///< of the next ones
  std::optional<WorkerStart> start_;
  std::optional<WorkerProgress> progress_;
  std::optional<WorkerEnd> end_;
  int starts_ = 0, unreadable_ = 0;
};

}  // namespace fast
