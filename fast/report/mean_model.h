#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fast/run/run_records.h"
#include "fast/run/safetensors.h"
#include "fast/run/summary.h"

namespace fast {

/// A tensor that owns its memory.
struct OwnedTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// The mean over workers whose models met, in memory.
struct MeanModel {
  std::vector<OwnedTensor> tensors;
  SafetensorsMetadata metadata;  ///< the lowest rank's
  /// rms over workers of |x_i - mean| / |mean|, over the exchanged parameters only: statistics that
  /// are not exchanged (BatchNorm's) tell nothing about the network.
  double consensus_distance = 0;
  std::vector<int> ranks;  ///< the workers whose models are in the mean, sorted

  /// Views of the tensors' bytes; writing to them changes the mean. Valid as long as this object.
  [[nodiscard]] std::vector<NamedTensor> views();
};

/// A mean for each part of the run (see islands()), the largest part first.
struct MeanModels {
  std::vector<MeanModel> parts;
  std::vector<LeftOut> left_out;  ///< sorted by rank
};

/// Elementwise means of tensors of F32, F64, F16 and BF16, accumulated in double, one tensor of all
/// workers at a time; what is carried (Role) or of another type is the lowest rank's. Leaves out,
/// with the reason: workers without metrics or without a model; files that cannot be read, are
/// damaged, or are of another run or rank; models with a NaN or an infinity among their
/// exchanged parameters; models whose tensors differ from those of most workers; where any worker
/// ended in agreement, the models of workers that ended early; and, where most did, those of
/// workers that ended at their deadline.
[[nodiscard]] MeanModels mean_models(const RunRecords& records);

/// The mean over the best models that workers of `ranks` have kept (best.safetensors), of the one
/// evaluation that most of them hold for the best; nothing where none has kept one. Models that
/// mean_models() would leave out are left out here, too.
[[nodiscard]] std::optional<MeanModel> best_model(const RunRecords& records,
                                                  const std::vector<int>& ranks);

}  // namespace fast
