#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fast/adapter.h"
#include "fast/run/reserved_room.h"
#include "fast/run/run_folder.h"
#include "fast/run/safetensors.h"
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

  /// The number of the model that all have agreed on at the end, for propose().
  static constexpr std::uint64_t kLast = UINT64_MAX;
  /// Saves the present model, of evaluation `number`, beside the best; logs where it cannot.
  void propose(std::uint64_t number);
  /// What was proposed last is the best from now on.
  void keep_proposed();
  /// No more will be kept.
  void drop_proposed();
  /// The last attempt of save() has failed.
  [[nodiscard]] bool unsaved() const { return unsaved_; }

 private:
  [[nodiscard]] SafetensorsMetadata metadata() const;
  const WorkerConfig& config_;
  ModelAdapter& adapter_;
  LogSink log_;
  RunFolder folder_;
  ReservedRoom room_;
  std::size_t bytes_ = 0;  ///< of the model's file
  bool unsaved_ = false;
};

}  // namespace fast
