#include "adapters/torch/torch_learner.h"
#include "tests/contract/adapter/adapter_contract.h"

namespace fast::testing {
namespace {

AdapterCase torch_case(std::string name, std::string model, bool mix_buffers = false,
                       std::string optimizer = "sgd") {
  LearnerOptions options;
  options.model = std::move(model);
  options.mix_buffers = mix_buffers;
  options.optimizer.name = std::move(optimizer);
  return {std::move(name), options,
          [](const LearnerOptions& o) { return std::make_unique<TorchLearner>(o); }};
}

INSTANTIATE_TEST_SUITE_P(Torch, AdapterContract,
                         ::testing::Values(torch_case("linear", "linear"), torch_case("mlp", "mlp"),
                                           torch_case("resnet8", "resnet8"),
                                           torch_case("resnet8_adamw", "resnet8", false, "adamw"),
                                           torch_case("resnet8_mixed_buffers", "resnet8", true)),
                         case_name);

}  // namespace
}  // namespace fast::testing
