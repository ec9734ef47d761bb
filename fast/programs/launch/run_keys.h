#pragma once

#include <filesystem>

#include "fast/options/session_options.h"

namespace fast {

/// The keys that a launcher makes for one run, so that on a machine that several people use nobody
/// else's process gets past the handshake. They are files as 'fast keys' makes them, in a folder
/// that only their owner may enter.
class RunKeys {
 public:
  /// `run`: the run's folder, in which they stay; empty: a folder for temporary files, from which
  /// the destructor removes them. `keep`: those of the run's earlier life stay in use where all of
  /// them are there. Throws FileError where they cannot be made, or where the file system lets
  /// others read them.
  RunKeys(const std::filesystem::path& run, int workers, bool keep);
  ~RunKeys();
  RunKeys(const RunKeys&) = delete;
  RunKeys& operator=(const RunKeys&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_, temporary_;
};

/// Whether a launcher makes keys for workers of these options.
[[nodiscard]] bool needs_run_keys(const SessionOptions& options, int workers);

/// Throws ConfigError where `run` is the folder of a run that 'fast train' made keys for and a
/// worker of these options brings none: no neighbour would hear it, and it would train alone in
/// that folder.
void check_run_keys(const SessionOptions& options, int workers, const std::filesystem::path& run);

}  // namespace fast
