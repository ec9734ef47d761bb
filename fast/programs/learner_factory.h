#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fast/config.h"
#include "fast/learner.h"

namespace fast {

/// The only place that knows which framework's adapters this build has.
[[nodiscard]] std::unique_ptr<Learner> make_learner(const LearnerOptions& options);

/// Models that make_learner() knows in this build.
[[nodiscard]] std::vector<std::string> model_names();

/// What `config` asks of a learner for data of this shape.
[[nodiscard]] LearnerOptions learner_options(const WorkerConfig& config, const ImageShape& shape);

}  // namespace fast
