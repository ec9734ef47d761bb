#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fast/data/batch.h"
#include "fast/data/image_shape.h"
#include "fast/train/learner.h"
#include "stencil/core/random.h"

namespace fast::test {

// What tests of learners train on.

inline constexpr ImageShape kCifar{3, 32, 32, 10};

struct Examples {
  Examples(const ImageShape& shape, std::size_t count, std::uint64_t seed)
      : images(count * shape.pixels()), labels(count) {
    stencil::Random random(seed);
    for (auto& pixel : images) pixel = static_cast<float>(2 * random.uniform() - 1);
    for (auto& label : labels) {
      label = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.classes)));
    }
  }
  [[nodiscard]] Batch batch() const { return {images, labels}; }
  std::vector<float> images;
  std::vector<std::int64_t> labels;
};

inline LearnerOptions options_for(const std::string& model, const ImageShape& shape) {
  LearnerOptions options;
  options.model = model;
  options.examples = shape;
  options.optimizer.learning_rate = 0.01;
  return options;
}

}  // namespace fast::test
