#include "fast/train/worker_config.h"

#include <algorithm>

namespace fast {

LearnerOptions learner_options(const WorkerConfig& config, const ExampleSpec& examples) {
  LearnerOptions options;
  options.model = config.model;
  options.examples = examples;
  options.loss = config.loss;
  options.optimizer = config.optimizer;
  options.freeze = config.freeze;
  options.rate_of = config.rate_of;
  options.seed = config.session.seed;
  options.stream = static_cast<std::uint64_t>(std::max(0, config.session.rank));
  options.threads = std::max(1, config.threads);
  options.mix_buffers = config.buffers == "mix";
  options.overlap = config.session.exchange.overlap;
  return options;
}

}  // namespace fast
