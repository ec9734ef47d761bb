#include "fast/train/learner.h"

#include <utility>

#include "fast/errors.h"
#include "fast/train/losses.h"

namespace fast {

void check_usual_loss(const LearnerOptions& options) {
  if (options.loss == kLosses[0]) return;
  throw ConfigError("model '" + options.model + "' is trained by " + std::string(kLosses[0]) +
                        " alone, and not by " + options.loss,
                    "use another model, or --loss " + std::string(kLosses[0]));
}

void check_no_patterns(const LearnerOptions& options) {
  for (const auto& [option, value] :
       {std::pair("--freeze ", &options.freeze), {"--rate-of ", &options.rate_of}}) {
    if (value->empty()) continue;
    throw ConfigError(
        option + *value + ": model '" + options.model + "' trains all of its parameters alike",
        "use one of LibTorch's models, or leave it out");
  }
}

ImageShape labelled_images(const LearnerOptions& options) {
  check_usual_loss(options);
  return image_shape(options.examples, options.model);
}

}  // namespace fast
