#include "adapters/torch/models/parameter_groups.h"

#include <algorithm>
#include <cstddef>

#include "fast/errors.h"
#include "fast/train/parameter_patterns.h"

namespace fast {
namespace {

std::vector<std::string> names_of(const torch::nn::Module& model) {
  std::vector<std::string> names;
  for (const auto& item : model.named_parameters()) names.push_back(item.key());
  return names;
}

}  // namespace

std::shared_ptr<Model> frozen(std::shared_ptr<Model> model, const std::string& patterns) {
  if (patterns.empty()) return model;
  const std::vector<std::string> names = names_of(*model);
  for (const std::string& pattern : patterns_in(patterns, "--freeze")) {
    check_fits("--freeze", pattern, names);
    for (auto& item : model->named_parameters()) {
      if (fits(pattern, item.key())) item.value().requires_grad_(false);
    }
  }
  const std::vector<torch::Tensor> all = model->parameters();
  if (std::ranges::any_of(all, [](const torch::Tensor& one) { return one.requires_grad(); })) {
    return model;
  }
  throw ConfigError("--freeze " + patterns + " fits all parameters, so that nothing is trained",
                    "leave some of them out");
}

std::vector<RateGroup> rates_of(const torch::nn::Module& model, const std::string& rates) {
  std::vector<RateGroup> groups(1);
  const std::vector<RateOf> wanted = rates_in(rates);
  const std::vector<std::string> names = names_of(model);
  for (const RateOf& rate : wanted) {
    check_fits("--rate-of", rate.pattern, names);
    groups.push_back({.factor = rate.factor});
  }
  for (const auto& item : model.named_parameters()) {
    const auto rate = std::ranges::find_if(
        wanted, [&](const RateOf& one) { return fits(one.pattern, item.key()); });
    const bool none = rate == wanted.end();
    const auto group = none ? 0 : static_cast<std::size_t>(rate - wanted.begin()) + 1;
    groups[group].parameters.push_back(item.value());
  }
  std::erase_if(groups, [](const RateGroup& group) { return group.parameters.empty(); });
  return groups;
}

std::vector<torch::optim::OptimizerParamGroup> groups_of(const std::vector<RateGroup>& rates) {
  std::vector<torch::optim::OptimizerParamGroup> groups;
  for (const RateGroup& rate : rates) groups.emplace_back(rate.parameters);
  return groups;
}

}  // namespace fast
