#pragma once

#include <cstddef>
#include <string>

#include "fast/adapter.h"
#include "fast/run/reserved_room.h"
#include "fast/run/run_folder.h"
#include "fast/train/worker_config.h"

namespace fast {

/// Saves a worker's model in its folder, and keeps the room for that on the disk from the start.
/// One thread.
class ModelKeeper {
 public:
  /// Writes nothing yet. `config` and `adapter` must outlive it.
  ModelKeeper(const WorkerConfig& config, ModelAdapter& adapter, LogSink log);

  /// Throws FileError where there is not enough room for the run's files, now rather than after
  /// training.
  void reserve_room();
  /// `ended`: see kEndedKey. Throws FileError.
  void save(const std::string& ended);
  /// Logs what save() throws.
  void try_to_save(const std::string& ended);
  /// The last attempt has failed.
  [[nodiscard]] bool unsaved() const { return unsaved_; }

 private:
  const WorkerConfig& config_;
  ModelAdapter& adapter_;
  LogSink log_;
  RunFolder folder_;
  ReservedRoom room_;
  std::size_t bytes_ = 0;  ///< of the model's file
  bool unsaved_ = false;
};

}  // namespace fast
