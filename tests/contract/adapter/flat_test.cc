#include "adapters/flat/models/flat_learner.h"
#include "tests/contract/adapter/adapter_contract.h"

namespace fast::testing {
namespace {

AdapterCase linear(std::string name, std::string optimizer) {
  LearnerOptions options;
  options.model = "linear";
  options.optimizer.name = std::move(optimizer);
  return {std::move(name), options, make_flat_learner};
}

INSTANTIATE_TEST_SUITE_P(Flat, AdapterContract,
                         ::testing::Values(linear("linear", "sgd"), linear("adamw", "adamw")),
                         case_name);

}  // namespace
}  // namespace fast::testing
