#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fast/session/session_options.h"

namespace fast {

/// Keeps lines until there is a log to write them to: a worker makes no file before all that can
/// fail at set-up has succeeded. Any thread.
class DeferredLog {
 public:
  void operator()(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (target_) {
      target_(level, text);
    } else if (kept_.size() < kMost) {
      kept_.emplace_back(level, text);
    }
  }
  /// Writes what was kept, and from now on everything, to `target`.
  void open(LogSink target) {
    const std::lock_guard lock(mutex_);
    target_ = std::move(target);
    for (const auto& [level, text] : kept_) target_(level, text);
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMost = 100;
  std::mutex mutex_;
  LogSink target_;
  std::vector<std::pair<LogLevel, std::string>> kept_;
};

}  // namespace fast
