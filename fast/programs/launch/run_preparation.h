#pragma once

#include <filesystem>
#include <string>

#include "fast/run/lock_file.h"

namespace fast {

/// A locked run folder: until this is destroyed no other launcher writes to it. The lock ends with
/// the process, however that ends.
class LockedFolder {
 public:
  /// What to do with a run that the folder already holds.
  enum class Earlier {
    kRefuse,
    kRemove,  ///< its files are removed, but only those with names that we give
    kResume,  ///< the run resumes
  };
  /// Creates the folder if it does not exist. Throws FileError where it cannot be written, where
  /// another process has locked it, and, with kRefuse, where it holds a run: then it names
  /// `command` as the one that resumes it.
  LockedFolder(const std::filesystem::path& folder, Earlier earlier,
               const std::string& command = "fast train");

  /// False on a file system without locks, where no other process is kept out.
  [[nodiscard]] bool locked() const { return lock_.locked(); }

 private:
  LockFile lock_;
};

/// The id of the run in this folder, of which at least one of `workers` left a checkpoint to resume
/// from. Throws FileError where none did.
[[nodiscard]] std::string run_id_to_resume(const std::filesystem::path& folder, int workers);

/// The program named like this: a path where `name` has a slash, otherwise in PATH. Throws
/// ConfigError where there is none that can be executed.
[[nodiscard]] std::string find_program(const std::string& name);

/// The spec with an absolute path, so that a worker can be started in any folder.
[[nodiscard]] std::string absolute_topology(const std::string& spec);

/// A new run id, unique on one machine and across machines.
[[nodiscard]] std::string fresh_run_id();

/// The path of fast-worker beside this program, or `wish` where that is not empty. Throws
/// ConfigError where it does not exist or is not executable.
[[nodiscard]] std::string find_worker_program(const std::string& wish);

}  // namespace fast
