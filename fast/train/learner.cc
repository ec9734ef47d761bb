#include "fast/train/learner.h"

#include "fast/errors.h"
#include "fast/train/losses.h"

namespace fast {

ImageShape labelled_images(const LearnerOptions& options) {
  if (options.loss != kLosses[0]) {
    throw ConfigError("model '" + options.model + "' is trained by " + std::string(kLosses[0]) +
                          " alone, and not by " + options.loss,
                      "use one of LibTorch's models, or --loss " + std::string(kLosses[0]));
  }
  return image_shape(options.examples, options.model);
}

}  // namespace fast
