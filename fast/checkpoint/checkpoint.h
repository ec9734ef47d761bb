#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "fast/checkpoint/saved_state.h"
#include "fast/run/safetensors.h"
#include "stencil/core/terms.h"
#include "stencil/core/types.h"

namespace fast {

/// A checkpoint is a safetensors file whose metadata says that it is one:
///   "format"      kCheckpointFormat
///   "checksum"    see kChecksumKey
///   "terms"       the run's terms: a JSON array of [name, value]
/// The classes that save into it decide which tensors it holds, see Resumable.
inline constexpr char kCheckpointFormat[] = "fast checkpoint 1";

/// The path of the checkpoint before `file`: "checkpoint.previous.safetensors".
[[nodiscard]] std::filesystem::path previous_checkpoint(const std::filesystem::path& file);

/// Writes `file` as AtomicFile does. An existing file becomes previous_checkpoint(). Throws
/// FileError.
void write_checkpoint(const std::filesystem::path& file, std::span<const NamedTensor> tensors,
                      const stencil::Terms& terms);

/// What parse_checkpoint() found. The tensors point into the bytes that were parsed.
struct CheckpointContent {
  stencil::Terms terms;
  std::vector<TensorView> tensors;
};

/// Parses untrusted bytes. Throws FileError, naming `name`, for anything that is not a checkpoint
/// or has been altered.
[[nodiscard]] CheckpointContent parse_checkpoint(std::span<const std::byte> file,
                                                 const std::string& name);

/// A checkpoint opened for reading. Movable resource.
class Checkpoint {
 public:
  /// Throws FileError.
  explicit Checkpoint(const std::filesystem::path& file);

  /// Opens the newest undamaged checkpoint: `file`, or, with a warning in the log, the one before
  /// where `file` is damaged. Nothing where neither exists. Throws FileError where each one that
  /// exists is damaged.
  [[nodiscard]] static std::optional<Checkpoint> newest(const std::filesystem::path& file,
                                                        const stencil::LogSink& log);

  [[nodiscard]] const std::string& name() const { return file_.name(); }
  [[nodiscard]] const stencil::Terms& terms() const { return content_.terms; }
  /// Valid during the lifetime of this.
  [[nodiscard]] std::span<const TensorView> tensors() const { return content_.tensors; }
  [[nodiscard]] StateReader state() const { return {content_.tensors, file_.name()}; }

 private:
  SafetensorsFile file_;
  CheckpointContent content_;
};

}  // namespace fast
