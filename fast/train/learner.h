#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "fast/adapter.h"
#include "fast/data/batch.h"
#include "fast/data/example_spec.h"
#include "fast/train/optimizer_options.h"

namespace fast {

struct StepResult {
  double loss = 0;  ///< mean over the batch
  /// Examples that are right; of one with several targets, the share of these. NaN: there is no
  /// right and wrong.
  double correct = 0;
  /// Mean distance of outputs from targets that are numbers, where it is evaluated; else NaN.
  double distance = std::numeric_limits<double>::quiet_NaN();
  double waited = 0;  ///< seconds of the step spent waiting for other workers
};

enum class Statistics : std::uint8_t {
  kNone,
  kLocal,      ///< not exchanged
  kExchanged,  ///< a part of the adapter's values
};

/// A model that Worker can train: its adapter, plus training and evaluation in the framework. One
/// thread.
class Learner {
 public:
  virtual ~Learner() = default;

  /// The optimizer's state is attached to it (ModelAdapter::attach()), so that checkpoints hold it.
  [[nodiscard]] virtual ModelAdapter& adapter() = 0;
  virtual void set_learning_rate(double learning_rate) = 0;

  /// Forward pass, backward pass, optimizer step. A non-finite loss is returned, not thrown; the
  /// optimizer step is then skipped.
  virtual StepResult train_step(const Batch& batch) = 0;

  /// Forward pass in evaluation mode (running BatchNorm statistics, no gradients).
  virtual StepResult evaluate(const Batch& batch) = 0;

  /// Normalisation statistics from data: after begin and one call a batch, the mean over all
  /// batches (cumulative average) replaces the running statistics. Models without BatchNorm do
  /// nothing; their statistics() is kNone, and callers skip the passes.
  [[nodiscard]] virtual Statistics statistics() const = 0;
  virtual void begin_statistics() = 0;
  virtual void accumulate_statistics(const Batch& batch) = 0;
};

/// A learner refuses a model, a loss, an optimizer or a pattern that it lacks, and examples that
/// its model cannot take (ConfigError). It may ignore momentum_correction, threads, mix_buffers and
/// overlap.
struct LearnerOptions {
  std::string model = "resnet8";
  ExampleSpec examples;
  std::string loss = "cross_entropy";  ///< see losses.h
  OptimizerOptions optimizer;
  /// Patterns of names (parameter_patterns.h), "a.*,b": these parameters stay as they begin, and
  /// are carried (see Role).
  std::string freeze;
  /// "a.*=0.1": factors of the learning rate of what fits; the first that fits counts.
  std::string rate_of;
  /// Random numbers that are drawn while it trains (dropout's) are of the seed and this: the rank.
  std::uint64_t stream = 0;
  std::uint64_t seed = 1;  ///< equal seeds give equal initial weights in every process
  int threads = 1;         ///< compute threads of this process
  /// Running statistics (BatchNorm's) become the mean over workers when training is over; see
  /// AveragedAtEnd.
  bool mix_buffers = false;
  /// Steps are taken part by part in the backward pass, so that the exchange begins there (torch
  /// models only; see adapters/torch/step_in_backward.h).
  bool overlap = false;
};

/// Throws ConfigError where the loss is not the usual one, the only one of this model.
void check_usual_loss(const LearnerOptions& options);

/// Throws ConfigError for patterns, of a learner that trains all of its parameters alike.
void check_no_patterns(const LearnerOptions& options);

/// What a learner needs that takes images with a label each, and no more. Throws ConfigError for
/// anything else.
[[nodiscard]] ImageShape labelled_images(const LearnerOptions& options);

}  // namespace fast
