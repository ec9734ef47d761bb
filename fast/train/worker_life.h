#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "fast/options/session_options.h"
#include "fast/run/lock_file.h"

namespace fast {

/// One start of a worker in its folder. It excludes other processes from the folder and increments
/// the count of starts (file `life`), by which neighbours tell a later life from an earlier one.
class WorkerLife {
 public:
  /// The folder need not exist yet; nothing is written. Throws RefusedError where another process
  /// uses it, and FileError.
  explicit WorkerLife(std::filesystem::path folder);

  /// The generation of this start.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Requires that the folder exists, and claims it for this worker. Throws as the constructor
  /// does.
  void settle(const LogSink& log);
  /// This worker begins once more in its folder, which it has claimed.
  void begin_again() { ++generation_; }

 private:
  void lock();

  std::filesystem::path folder_;
  std::optional<LockFile> lock_;
  std::uint64_t generation_ = 1;
};

}  // namespace fast
