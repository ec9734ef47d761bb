#pragma once

#include <memory>
#include <vector>

#include "fast/train/learner.h"
#include "fast/train/models.h"

namespace fast {

/// Softmax regression in plain C++ (model "linear"): one weight matrix "fc.weight" [classes,
/// pixels] and "fc.bias" [classes], trained by SGD with momentum or by AdamW. Layout, initial
/// weights and updates are those of the LibTorch model "linear", so the two can train on one grid.
/// Runs on the calling thread whatever `options.threads` is. Throws ConfigError for another model
/// or optimizer.
[[nodiscard]] std::unique_ptr<Learner> make_flat_learner(const LearnerOptions& options);

/// "linear", for a program's list of models.
[[nodiscard]] std::vector<ModelKind> flat_models();

}  // namespace fast
