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

  /// Skips the present content of the file, which belongs to earlier lives.
  void skip();

  /// Reads the complete lines appended since the last call; a line that is still being written is
  /// left for the next call. A file that does not exist yet has no lines. A file that became
  /// shorter is read again from its beginning. Where its first line is the same it was thinned, and
  /// lines other than progress that were read before are skipped. Returns the new events. Never
  /// throws. Reads at most a few MiB a call, so that a launcher stays responsive.
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
  std::uintmax_t offset_ = 0;  ///< of the first byte not read yet
  std::string partial_;        ///< the beginning of a line
  std::string first_line_;
  std::size_t other_lines_ = 0;  ///< lines read that are not progress; thinning keeps them
  std::size_t seen_before_ = 0;  ///< how many of the next lines were read before
  std::optional<WorkerStart> start_;
  std::optional<WorkerProgress> progress_;
  std::optional<WorkerEnd> end_;
  int starts_ = 0, unreadable_ = 0;
};

}  // namespace fast
