#include "adapters/flat/models/flat_learner.h"
#include "tests/contract/learner/learner_contract.h"

namespace fast::testing {
namespace {

LearnerCase linear(std::string name, std::string optimizer) {
  LearnerOptions options;
  options.model = "linear";
  options.optimizer.name = std::move(optimizer);
  return {std::move(name), options, make_flat_learner};
}

INSTANTIATE_TEST_SUITE_P(Flat, LearnerContract,
                         ::testing::Values(linear("linear", "sgd"), linear("adamw", "adamw")),
                         case_name);

}  // namespace
}  // namespace fast::testing
