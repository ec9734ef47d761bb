#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/torch/models/models.h"
#include "adapters/torch/models/torch_learner.h"
#include "tests/contract/learner/learner_contract.h"
#include "tests/support/cifar_files.h"
#include "tests/support/script_files.h"

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

/// A model of the user's, from a file whose weights are drawn from the seed.
LearnerCase script_case() {
  LearnerOptions options;
  options.mix_buffers = true;
  return {"script", options, [](const LearnerOptions& given) {
            const TemporaryFolder folder;
            const auto file = folder.path() / "own.pt";
            const ImageShape shape = image_shape(given.examples, "own");
            save_script(file, static_cast<std::int64_t>(shape.pixels()), shape.classes, given.seed);
            LearnerOptions own = given;
            own.model = "script:" + file.string();
            return Models(torch_models()).make(own);
          }};
}

/// A model of tokens.
LearnerCase gpt_case() {
  LearnerCase gpt = torch_case("gpt", "gpt:1,2,16", false, "adamw");
  gpt.examples.input = gpt.examples.target = {ValueType::kInt64, {6}};
  return gpt;
}

std::vector<LearnerCase> every_model() {
  std::vector<LearnerCase> cases = {gpt_case()};
  for (const auto name : torch_model_names()) cases.push_back(torch_case(std::string(name), name));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Torch, LearnerContract, ::testing::ValuesIn(every_model()), case_name);
INSTANTIATE_TEST_SUITE_P(TorchScript, LearnerContract, ::testing::Values(script_case()), case_name);
INSTANTIATE_TEST_SUITE_P(TorchOptions, LearnerContract,
                         ::testing::Values(torch_case("resnet8_adamw", "resnet8", false, "adamw"),
                                           torch_case("resnet8_mixed_buffers", "resnet8", true)),
                         case_name);

}  // namespace
}  // namespace fast::testing
