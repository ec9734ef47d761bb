#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fast/run/run_records.h"
#include "fast/run/safetensors.h"

namespace fast {

/// A tensor with its own memory.
struct OwnedTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// The mean over workers, in memory.
struct MeanModel {
  std::vector<OwnedTensor> tensors;
  SafetensorsMetadata metadata;  ///< the lowest rank's
  /// rms over workers of |x_i - mean| / |mean| over the exchanged parameters alone: statistics that
  /// never travel (BatchNorm's) say nothing of the network.
  double consensus_distance = 0;
  std::vector<int> ranks;     ///< whose models are in the mean
  std::vector<int> excluded;  ///< whose models are not finite

  /// Views of the tensors' bytes; writing to them changes the mean. Valid as long as this object.
  [[nodiscard]] std::vector<NamedTensor> views();
};

/// Elementwise mean of F32 and F64 tensors, accumulated in double, one tensor of all workers at a
/// time; tensors of integers (step counters) are the lowest rank's. A model with a NaN or an
/// infinity among its exchanged parameters is left out, since one would spoil all. Nothing where
/// no worker has a usable model. Throws FileError, naming file and tensor, where models differ in
/// names, shapes or types, and for half-precision tensors.
[[nodiscard]] std::optional<MeanModel> mean_model(const RunRecords& records);

}  // namespace fast
