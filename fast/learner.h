#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"

namespace fast {

/// Momentum is not corrected after a step at this part or less of the highest rate so far, as at
/// the end of a schedule: what little the exchange moves by then, over such a rate, is noise.
inline constexpr double kLeastCorrectedRate = 0.01;

/// A batch of images, normalised, NCHW, row-major. Spans point into the loader's buffers and are
/// valid until its next call.
struct Batch {
  std::span<const float> images;         ///< size = labels.size() * channels * height * width
  std::span<const std::int64_t> labels;  ///< 0 .. classes-1
};

/// What a data set's examples look like; enough to build a model for it.
struct ImageShape {
  int channels = 0, height = 0, width = 0, classes = 0;
  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(channels) * height * width;
  }
};

struct StepResult {
  double loss = 0;  ///< mean over the batch
  std::size_t correct = 0;
  double waited = 0;  ///< s of the step that went by waiting for other workers, not computing
};

struct OptimizerOptions {
  std::string name = "sgd";    ///< "sgd" (momentum, weight decay) | "adamw"
  double learning_rate = 0.1;  ///< before the schedule
  double momentum = 0.9;
  /// Momentum takes the gradient where it is about to lead (Nesterov 1983, as Sutskever et al. 2013
  /// and PyTorch have it); sgd alone. It bears that others' steps come in between: with a gradient
  /// a step old and momentum 0.9, five times the curvature that plain momentum does.
  bool nesterov = true;
  double momentum_correction = 0.5;  ///< see adapters/torch/momentum_correction.h; sgd alone
  double weight_decay = 5e-4;
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
