#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fast/data/batch.h"
#include "fast/data/example_spec.h"
#include "fast/data/image_shape.h"
#include "fast/train/learner.h"
#include "stencil/core/random.h"

namespace fast::test {

// What tests of learners train on.

inline constexpr ImageShape kCifar{3, 32, 32, 10};

/// Tokens, and of each the one that follows.
inline ExampleSpec tokens_of(std::int64_t length, int classes) {
  ExampleSpec spec;
  spec.input = spec.target = {ValueType::kInt64, {length}};
  spec.classes = classes;
  return spec;
}

/// Random inputs and targets.
struct Examples {
  Examples(const ExampleSpec& spec, std::size_t count, std::uint64_t seed)
      : size(count), labels(count * spec.target.values()) {
    stencil::Random random(seed);
    const auto any = [&] {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spec.classes)));
    };
    if (spec.input.type == ValueType::kInt64) {
      tokens.resize(count * spec.input.values());
      for (auto& token : tokens) token = any();
    } else {
      images.resize(count * spec.input.values());
      for (auto& pixel : images) pixel = static_cast<float>(2 * random.uniform() - 1);
    }
    for (auto& label : labels) label = any();
  }
  [[nodiscard]] Batch batch() const {
    using Tokens = std::span<const std::int64_t>;
    if (tokens.empty()) return {size, std::span<const float>(images), Tokens(labels)};
    return {size, Tokens(tokens), Tokens(labels)};
  }
  std::size_t size;
  std::vector<float> images;  ///< or tokens
  std::vector<std::int64_t> tokens, labels;
};

inline LearnerOptions options_for(const std::string& model, const ExampleSpec& examples) {
  LearnerOptions options;
  options.model = model;
  options.examples = examples;
  options.optimizer.learning_rate = 0.01;
  return options;
}

}  // namespace fast::test
