#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>

#include "fast/checkpoint/saved_state.h"
#include "stencil/core/terms.h"
#include "stencil/core/types.h"

namespace fast {

/// Writes checkpoints while training goes on. The training thread only copies the state; another
/// thread writes it. All methods but held() belong to the training
/// thread.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(stencil::LogSink log) : log_(std::move(log)) {}
  /// Waits until the last checkpoint is on the disk.
  ~CheckpointWriter() { wait(); }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Whether the last checkpoint is still being written.
  [[nodiscard]] bool busy() const;
  /// An empty state to fill before write(). Waits while busy().
  [[nodiscard]] StateWriter& begin();
  /// See keep_checkpoint(): what was written after so many steps is kept; `most` 0: it is not.
  struct Keep {
    std::uint64_t steps = 0;
    int most = 0;
  };
  /// See write_checkpoint(). Logs a checkpoint that cannot be written or kept; training goes on.
  void write(std::filesystem::path file, stencil::Terms terms, Keep keep);
  void wait();
  /// Bytes that the copies of the state take. Any thread.
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  stencil::LogSink log_;
  StateWriter state_;  ///< belongs to the writing thread while busy()
  std::future<void> writing_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace fast
