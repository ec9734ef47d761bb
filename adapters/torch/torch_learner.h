#pragma once

#include <memory>

#include "fast/learner.h"
#include "stencil/core/types.h"

namespace fast {

/// A model of adapters/torch/models with torch::optim::SGD or AdamW and a TorchAdapter. Sets,
/// for the whole process, LibTorch's thread counts (`options.threads` within an operation, one
/// between operations) and glibc's malloc to keep what is freed. `log` hears of re-homed parameters
/// and may be empty. Throws ConfigError for an unknown model or optimizer.
[[nodiscard]] std::unique_ptr<Learner> make_torch_learner(const LearnerOptions& options,
                                                          stencil::LogSink log = {});

}  // namespace fast
