#pragma once

#include <filesystem>
#include <future>

#include "fast/checkpoint/saved_state.h"
#include "stencil/core/terms.h"
#include "stencil/core/types.h"

namespace fast {

/// Writes checkpoints while training goes on: the training thread pays for one copy of the state,
/// the rest is done by a thread of its own. All methods belong to the training thread.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(stencil::LogSink log) : log_(std::move(log)) {}
  /// Waits until what was handed over is on the disk.
  ~CheckpointWriter() { wait(); }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// The last one is still being written.
  [[nodiscard]] bool busy() const;
  /// Empty; to be filled and handed to write(). Waits while busy().
  [[nodiscard]] StateWriter& begin();
  /// See write_checkpoint(). One that cannot be written is named in the log; training goes on.
  void write(std::filesystem::path file, stencil::Terms terms);
  void wait();

 private:
  stencil::LogSink log_;
  StateWriter state_;  ///< the writing thread's while busy()
  std::future<void> writing_;
};

}  // namespace fast
