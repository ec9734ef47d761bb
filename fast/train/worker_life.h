#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "fast/run/lock_file.h"
#include "fast/session/session_options.h"

namespace fast {

/// What one start of a worker does to its folder: no other process may be in it, and the count of
/// its starts (file `life`) goes up by one, by which neighbours tell a later life from an earlier.
class WorkerLife {
 public:
  /// The folder need not be there yet; nothing is written. Throws RefusedError where another
  /// process is in it, FileError.
  explicit WorkerLife(std::filesystem::path folder);

  /// Of this start.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// The folder is there, and this worker's from now on. Throws like the constructor.
  void settle(const LogSink& log);

 private:
  void lock();

  std::filesystem::path folder_;
  std::optional<LockFile> lock_;
  std::uint64_t generation_ = 1;
};

}  // namespace fast
