#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "fast/checkpoint/checkpoint_writer.h"
#include "fast/options/session_options.h"
#include "fast/run/lock_file.h"
#include "stencil/core/grid.h"
#include "stencil/core/terms.h"
#include "stencil/core/types.h"
#include "stencil/runtime/data_cap.h"

namespace fast {

/// What a session resumes from, beside the model and the parts attached to its adapter.
struct SessionRecord {
  bool resumed = false;            ///< from a checkpoint
  std::uint64_t steps = 0;         ///< of all lives
  std::uint64_t initial_hash = 0;  ///< of the run's initial weights
  std::vector<double> scalars{};   ///< of Progress; empty: none yet
  std::vector<double> given{};     ///< of Means; empty: nothing yet
  bool agreed = false;             ///< saved after finish(), at the aim and in agreement
  std::vector<stencil::Grid::Change> changes{};  ///< of the grid
  stencil::DataUsed data{};                      ///< of the data allowance
  std::map<int, std::string> listen{};           ///< endpoints of those that came; see GridChange
};

/// A session's checkpoints: the one that it resumes from, and those that it writes. Training
/// thread.
class Resuming {
 public:
  /// `options` must outlive this.
  Resuming(const SessionOptions& options, stencil::Terms terms)
      : options_(options), terms_(std::move(terms)), writer_(options.log) {}

  /// Loads model and parts from options.resume. Returns nothing where there is no such file. Throws
  /// FileError where its terms differ or it does not fit.
  std::optional<SessionRecord> load(ModelAdapter& adapter) const;

  /// Checkpoints will be written. Makes their folder. Throws FileError where it cannot be written,
  /// ConfigError where another session writes the same file.
  void begin();
  /// Whether the options, or somebody by save_now, ask for a checkpoint now.
  [[nodiscard]] bool due(stencil::TimePoint now);
  /// No checkpoint is to take more than so many bytes of memory.
  void keep_within(std::size_t bytes) { most_ = bytes; }
  /// Bytes of memory that checkpoints take now. Any thread.
  [[nodiscard]] std::size_t held() const { return writer_.held(); }
  /// Copies the state; another thread writes it. Waits only for a checkpoint that is still being
  /// written. Logs an error instead where it would take more memory than it may.
  void save(const std::filesystem::path& file, ModelAdapter& adapter, const SessionRecord& record);
  /// No more checkpoints come: when the last one stands, another session may write that file.
  void end() {
    writer_.wait();
    lock_.reset();
  }

 private:
  [[nodiscard]] bool has_room(ModelAdapter& adapter) const;
  void check_terms(const stencil::Terms& saved, const std::string& file) const;

  const SessionOptions& options_;
  stencil::Terms terms_;
  std::optional<LockFile> lock_;  ///< of options.checkpoint
  CheckpointWriter writer_;
  std::size_t most_ = SIZE_MAX;
  std::optional<stencil::TimePoint> next_;
};

}  // namespace fast
