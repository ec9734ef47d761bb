#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fast/adapter.h"
#include "fast/data/batch.h"
#include "fast/data/image_shape.h"
#include "fast/train/optimizer_options.h"

namespace fast {

struct StepResult {
  double loss = 0;  ///< mean over the batch
  std::size_t correct = 0;
  double waited = 0;  ///< s of the step that went by waiting for other workers, not computing
};

enum class Statistics : std::uint8_t {
  kNone,
  kLocal,      ///< not exchanged
  kExchanged,  ///< a part of the adapter's values
};

/// A model that can be trained by `Worker`: the adapter (what is exchanged) plus training and
/// evaluation in the framework. One thread.
class Learner {
 public:
  virtual ~Learner() = default;

  [[nodiscard]] virtual ModelAdapter& adapter() = 0;
  virtual void set_learning_rate(double learning_rate) = 0;

  /// Forward, backward, optimizer step. A non-finite loss is returned, not thrown, and in that case
  /// no optimizer step is made.
  virtual StepResult train_step(const Batch& batch) = 0;

  /// Forward in evaluation mode (running BatchNorm statistics, no gradients).
  virtual StepResult evaluate(const Batch& batch) = 0;

  /// Normalisation statistics from data: begin, one call a batch, and the mean over all of them
  /// (cumulative average) replaces the running statistics. Models without BatchNorm do nothing;
  /// statistics() then is kNone and callers skip the passes.
  [[nodiscard]] virtual Statistics statistics() const = 0;
  virtual void begin_statistics() = 0;
  virtual void accumulate_statistics(const Batch& batch) = 0;
};

struct LearnerOptions {
  std::string model = "resnet8";
  ImageShape shape;
  OptimizerOptions optimizer;
  std::uint64_t seed = 1;  ///< equal seeds give equal initial weights in every process
  int threads = 1;         ///< compute threads of this process
  /// Float buffers (BatchNorm statistics) are exchanged, and stand still in training: only
  /// begin_statistics(), what follows it and the exchange change them.
  bool mix_buffers = false;
  /// Steps are made part by part in the backward pass, so that exchange begins there (torch models
  /// alone; see adapters/torch/step_in_backward.h).
  bool overlap = false;
};

}  // namespace fast
