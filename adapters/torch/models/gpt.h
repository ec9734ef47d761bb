#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "adapters/torch/models/model.h"
#include "fast/train/learner.h"

namespace fast {

/// Of the model "gpt:LAYERS,HEADS,WIDTH".
struct GptSizes {
  std::int64_t layers = 0, heads = 0, width = 0;
};

/// Throws ConfigError where the name's arguments are not three numbers from 1 on, or too large, or
/// where heads do not divide the width.
[[nodiscard]] GptSizes gpt_sizes(const std::string& name);

/// A decoder of tokens as GPT-2 is one (Radford et al. 2019): positions are learned, layers are
/// normalised before they compute, each token sees itself and those before it, and the rectifiers
/// are Gaussian (GELU). It has no dropout, and the last layer, "fc", has weights of its own, so
/// that its exchange need not wait for the first layer's. Initial weights are GPT-2's: deviation
/// 0.02, and less by sqrt(2 LAYERS) in layers that add to what passes by; options.seed alone draws
/// them.
///
/// An example is a row of integers, and so are its targets: what follows each. Throws ConfigError,
/// naming the model, for other examples and losses beside cross_entropy and
/// one of the user's own.
[[nodiscard]] std::shared_ptr<Model> make_gpt(const LearnerOptions& options);

}  // namespace fast
