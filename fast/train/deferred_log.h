#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fast/options/session_options.h"
#include "stencil/threads/mutex.h"

namespace fast {

/// Keeps lines until a log is open, since a worker creates no file before its set-up has succeeded.
/// Any thread.
class DeferredLog {
 public:
  void operator()(LogLevel level, std::string_view text) {
    const stencil::MutexLock lock(mutex_);
    if (target_) {
      target_(level, text);
    } else if (kept_.size() < kMost) {
      kept_.emplace_back(level, text);
    }
  }
  [[nodiscard]] bool is_open() {
    const stencil::MutexLock lock(mutex_);
    return target_ != nullptr;
  }
  /// Writes the lines kept to `target`, and all later lines directly.
  void open(LogSink target) {
    const stencil::MutexLock lock(mutex_);
    target_ = std::move(target);
    for (const auto& [level, text] : kept_) target_(level, text);
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMost = 100;
  stencil::Mutex mutex_;
  LogSink target_ FAST_GUARDED_BY(mutex_);
  std::vector<std::pair<LogLevel, std::string>> kept_ FAST_GUARDED_BY(mutex_);
};

}  // namespace fast
