#include "fast/programs/learner_factory.h"

#include <algorithm>

#ifdef FAST_HAVE_TORCH
#include "adapters/torch/torch_learner.h"
#else
#include "adapters/flat/flat_learner.h"
#endif

namespace fast {

#ifdef FAST_HAVE_TORCH
std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  return std::make_unique<TorchLearner>(options);
}

std::vector<std::string> model_names() {
  return {"linear", "mlp", "resnet8", "resnet20", "resnet18"};
}
#else
std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  return make_flat_learner(options);
}

std::vector<std::string> model_names() {
  return {"linear"};
}
#endif

LearnerOptions learner_options(const WorkerConfig& config, const ImageShape& shape) {
  LearnerOptions options;
  options.model = config.model;
  options.shape = shape;
  options.optimizer = config.optimizer;
  options.seed = config.seed;
  options.threads = std::max(1, config.threads);
  options.mix_buffers = config.buffers == "mix";
  options.overlap = config.overlap;
  return options;
}

}  // namespace fast
