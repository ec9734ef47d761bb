#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/torch/models/models.h"
#include "adapters/torch/models/torch_learner.h"
#include "tests/contract/learner/learner_contract.h"

namespace fast::testing {
namespace {

LearnerCase torch_case(std::string name, std::string_view model, bool mix_buffers = false,
                       std::string optimizer = "sgd") {
  LearnerOptions options;
  options.model = model;
  options.mix_buffers = mix_buffers;
  options.optimizer.name = std::move(optimizer);
  return {std::move(name), options,
          [](const LearnerOptions& o) { return std::make_unique<TorchLearner>(o); }};
}

std::vector<LearnerCase> every_model() {
  std::vector<LearnerCase> cases;
  for (const auto name : torch_model_names()) cases.push_back(torch_case(std::string(name), name));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Torch, LearnerContract, ::testing::ValuesIn(every_model()), case_name);
INSTANTIATE_TEST_SUITE_P(TorchOptions, LearnerContract,
                         ::testing::Values(torch_case("resnet8_adamw", "resnet8", false, "adamw"),
                                           torch_case("resnet8_mixed_buffers", "resnet8", true)),
                         case_name);

}  // namespace
}  // namespace fast::testing
