#pragma once

#include <filesystem>
#include <string>

namespace fast {

/// A run folder that is ours alone until this is destroyed: two launchers never write to one
/// folder. The lock goes with the process, however that ends.
class LockedFolder {
 public:
  /// Creates the folder where there is none. Throws FileError where it cannot be written, where
  /// another process holds it, and, unless `overwrite`, where it holds a run already; with
  /// `overwrite` the files of that run are removed (those whose names are ours, no others).
  LockedFolder(const std::filesystem::path& folder, bool overwrite);
  ~LockedFolder();
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

 private:
  int descriptor_ = -1;
};

/// Of one run of fast train: no two are alike, on one machine or on several.
[[nodiscard]] std::string fresh_run_id();

/// fast-worker beside this program, or `wish` where that is not empty. Throws ConfigError where it
/// is not there or not executable.
[[nodiscard]] std::string find_worker_program(const std::string& wish);

}  // namespace fast
