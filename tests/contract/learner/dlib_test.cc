#include <utility>
#include <vector>

#include "adapters/dlib/models/dlib_learner.h"
#include "tests/contract/learner/learner_contract.h"

namespace fast::testing {
namespace {

LearnerCase dlib_case(std::string name, std::string model, bool mix_buffers = false,
                      std::string optimizer = "sgd") {
  LearnerOptions options;
  options.model = std::move(model);
  options.mix_buffers = mix_buffers;
  options.optimizer.name = std::move(optimizer);
  return {std::move(name), options, make_dlib_learner};
}

INSTANTIATE_TEST_SUITE_P(Dlib, LearnerContract,
                         ::testing::Values(dlib_case("mlp", "mlp"), dlib_case("lenet", "lenet"),
                                           dlib_case("resnet8", "dlib:resnet8"),
                                           dlib_case("resnet8_adamw", "resnet8", false, "adamw"),
                                           dlib_case("resnet8_mixed_buffers", "resnet8", true)),
                         case_name);

}  // namespace
}  // namespace fast::testing
