#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fast/run/lock_file.h"

namespace fast {

/// A run folder that is ours alone until this is destroyed: two launchers never write to one
/// folder. The lock goes with the process, however that ends.
class LockedFolder {
 public:
  /// What becomes of a run that the folder holds already.
  enum class Earlier {
    kRefuse,
    kRemove,  ///< its files are removed: those whose names are ours, no others
    kResume,  ///< it goes on
  };
  /// Creates the folder where there is none. Throws FileError where it cannot be written, where
  /// another process holds it, and, with kRefuse, where it holds a run.
  LockedFolder(const std::filesystem::path& folder, Earlier earlier);

  /// False on a file system that has no locks: nobody is kept out.
  [[nodiscard]] bool locked() const { return lock_.locked(); }

 private:
  LockFile lock_;
};

/// The id of the run in this folder, where at least one of `workers` left a checkpoint to go on
/// from.
[[nodiscard]] std::optional<std::string> resumable_run_id(const std::filesystem::path& folder,
                                                          int workers);

/// Of one run of fast train: no two are alike, on one machine or on several.
[[nodiscard]] std::string fresh_run_id();

/// fast-worker beside this program, or `wish` where that is not empty. Throws ConfigError where it
/// is not there or not executable.
[[nodiscard]] std::string find_worker_program(const std::string& wish);

}  // namespace fast
