#pragma once

#include <memory>
#include <vector>

#include "fast/train/learner.h"
#include "fast/train/models.h"

namespace fast {

/// A model of this folder, trained by SGD with momentum or by AdamW: "mlp", "lenet" or "resnet8",
/// also under the names "dlib:mlp" .., by which programs with LibTorch's models tell it from those.
/// mlp and resnet8 have LibTorch's names, layout, initial weights and updates, so that workers of
/// both train in one run. Runs on the calling thread whatever `options.threads` is. Throws
/// ConfigError for another model or optimizer.
[[nodiscard]] std::unique_ptr<Learner> make_dlib_learner(const LearnerOptions& options);

/// The models of this folder, for a program's list.
[[nodiscard]] std::vector<ModelKind> dlib_models();

}  // namespace fast
