#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/torch/models/model.h"

namespace fast {

/// Parameters whose learning rate has one factor.
struct RateGroup {
  double factor = 1;
  std::vector<torch::Tensor> parameters{};
};

/// The model, whose parameters that fit LearnerOptions::freeze need no gradient any more. Throws
/// ConfigError for a pattern that fits none, and where nothing is left to train.
[[nodiscard]] std::shared_ptr<Model> frozen(std::shared_ptr<Model> model,
                                            const std::string& patterns);

/// The model's parameters by their factors of LearnerOptions::rate_of; first those of factor 1 that
/// no pattern fits. Throws ConfigError for a pattern that fits none.
[[nodiscard]] std::vector<RateGroup> rates_of(const torch::nn::Module& model,
                                              const std::string& rates);

[[nodiscard]] std::vector<torch::optim::OptimizerParamGroup> groups_of(
    const std::vector<RateGroup>& rates);

}  // namespace fast
