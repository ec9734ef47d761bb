#pragma once

#include <cstddef>
#include <optional>

#include "fast/options/session_options.h"
#include "fast/run/lock_file.h"
#include "stencil/runtime/journal.h"

namespace fast {

/// The recording of a session's engine, where the options ask for one; see SessionOptions::record.
/// Background thread, until that has ended.
class Recording {
 public:
  /// `options` must outlive this. Keeps so many bytes at most. Throws FileError where the file
  /// cannot be written, ConfigError where another session writes the same file.
  Recording(const SessionOptions& options, std::size_t most);

  /// Null where nothing is recorded.
  [[nodiscard]] stencil::Witness* witness() { return journal_ ? &*journal_ : nullptr; }
  /// Bytes of memory that it takes.
  [[nodiscard]] std::size_t held() const { return journal_ ? journal_->held() : 0; }
  /// Writes the file where somebody has asked for it since the last call.
  void heed() const;
  /// Writes the file, where there is to be one: the complete new one or none. Logs a failure.
  void write() const;

 private:
  const SessionOptions& options_;
  std::optional<LockFile> lock_;
  std::optional<stencil::Journal> journal_;
};

}  // namespace fast
