#include "adapters/torch/models/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/torch/models/model.h"
#include "adapters/torch/models/torch_learner.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/learner_examples.h"
#include "tests/support/script_files.h"

namespace fast {
namespace {

using test::Examples;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::save_script;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

constexpr ImageShape kShape{1, 2, 3, 4};

class ScriptTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return (folder_.path() / "own net.pt").string(); }
  [[nodiscard]] LearnerOptions options() const {
    LearnerOptions options = test::options_for("script:" + file(), kShape);
    options.mix_buffers = true;
    return options;
  }
  [[nodiscard]] std::unique_ptr<Learner> learner() const {
    return Models(torch_models()).make(options());
  }
  /// What is thrown, for a model that `change` has made otherwise.
  template <typename Change>
  std::string refusal(Change change, const LearnerOptions& wanted) {
    save_script(file(), 6, 4);
    torch::jit::Module script = torch::jit::load(file());
    change(script);
    script.save(file());
    try {
      (void)Models(torch_models()).make(wanted);
    } catch (const ConfigError& error) {
      return error.what();
    } catch (const AdapterError& error) {
      return error.what();
    }
    return "taken";
  }
  TemporaryFolder folder_;
};

std::vector<float> tensor_of(ModelAdapter& adapter, std::string_view name) {
  for (const NamedTensor& tensor : adapter.state()) {
    if (tensor.name != name) continue;
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
    return values;
  }
  return {};
}

TEST_F(ScriptTest, AllOfItIsThereUnderItsOwnNames) {
  save_script(file(), 6, 4);
  const auto own = learner();
  std::vector<std::string> names;
  for (const NamedTensor& tensor : own->adapter().state()) names.push_back(tensor.name);
  EXPECT_THAT(names, UnorderedElementsAre("scale", "head.weight", "head.bias", "norm.running_mean",
                                          "norm.running_var", "norm.num_batches_tracked"));
}

TEST_F(ScriptTest, TrainsWhatIsNotFrozenAndFollowsItsStatistics) {
  save_script(file(), 6, 4);
  const auto own = learner();
  const Examples examples(kShape, 32, 1);
  const auto weight = tensor_of(own->adapter(), "head.weight");
  const double before = own->train_step(examples.batch()).loss;
  double after = before;
  for (int i = 0; i < 50; ++i) after = own->train_step(examples.batch()).loss;
  EXPECT_LT(after, before);
  EXPECT_NE(tensor_of(own->adapter(), "head.weight"), weight);
  EXPECT_THAT(tensor_of(own->adapter(), "scale"), Each(1.0F));
  EXPECT_NE(tensor_of(own->adapter(), "norm.running_mean").front(), 0);
  const auto mean = tensor_of(own->adapter(), "norm.running_mean");
  (void)own->evaluate(examples.batch());
  EXPECT_EQ(tensor_of(own->adapter(), "norm.running_mean"), mean) << "evaluating trains nothing";
}

TEST_F(ScriptTest, EveryWorkerBeginsWithTheWeightsOfTheFile) {
  save_script(file(), 6, 4, 5);
  const auto one = learner();
  LearnerOptions others = options();
  others.seed = 9;
  const auto other = Models(torch_models()).make(others);
  EXPECT_EQ(tensor_of(one->adapter(), "head.weight"), tensor_of(other->adapter(), "head.weight"));
}

TEST_F(ScriptTest, ASavedModelIsLoadedAndEvaluatesTheSame) {
  save_script(file(), 6, 4);
  const auto trained = learner(), loaded = learner();
  const Examples examples(kShape, 32, 1);
  for (int i = 0; i < 5; ++i) (void)trained->train_step(examples.batch());
  const auto from = trained->adapter().state(), to = loaded->adapter().state();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    ASSERT_EQ(from[i].name, to[i].name);
    std::copy(from[i].bytes.begin(), from[i].bytes.end(), to[i].bytes.begin());
  }
  EXPECT_EQ(loaded->evaluate(examples.batch()).loss, trained->evaluate(examples.batch()).loss);
}

TEST_F(ScriptTest, WhatCannotBeTrainedIsRefusedByFileCauseAndRemedy) {
  const auto nothing = [](torch::jit::Module&) {};
  const auto freeze = [](torch::jit::Module& script) {
    for (torch::Tensor parameter : script.parameters()) parameter.requires_grad_(false);
  };
  const auto integers = [](torch::jit::Module& script) {
    script.register_parameter("count", torch::zeros({2}, torch::kInt64), false);
  };
  LearnerOptions other = options();
  other.examples = ImageShape{1, 2, 2, 4};
  LearnerOptions more = options();
  more.examples = ImageShape{1, 2, 3, 5};
  LearnerOptions numbers = options();
  numbers.loss = "mse";
  LearnerOptions missing = options();
  missing.model = "script:/no/where.pt";
  const std::vector<std::pair<std::string, std::string>> found = {
      {refusal(nothing, options()), "taken"},
      {refusal(freeze, options()), "no parameter that requires a gradient"},
      {refusal(integers, options()), "'count' is of integers"},
      {refusal(nothing, other), "cannot take two examples of float32 [1, 2, 2]"},
      {refusal(nothing, more), "tells 4 classes apart, and the data have 5"},
      {refusal(nothing, numbers), "use --loss cross_entropy"},
      {refusal(nothing, missing), "there is no such file"}};
  for (const auto& [said, expected] : found) {
    EXPECT_THAT(said, HasSubstr(expected));
    EXPECT_EQ(said.find("; ") != std::string::npos, expected != "taken");
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  testing::write_bytes(file(), testing::Bytes(100, 7));
  try {
    (void)learner();
    ADD_FAILURE() << "it was taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("own net.pt is no TorchScript"), HasSubstr("; ")));
  }
}

TEST(ModelNames, ThatOfAFileIsItsOwnWithoutTheFolder) {
  EXPECT_EQ(architecture("script:/a/b/net.pt"), "net.pt");
  EXPECT_EQ(architecture("gpt:2,4,64"), "gpt:2,4,64");
  EXPECT_EQ(absolute_script("resnet8"), "resnet8");
  EXPECT_EQ(absolute_script("script:/a/./net.pt"), "script:/a/net.pt");
  const Models models(torch_models());
  EXPECT_TRUE(models.has("script:net.pt"));
  EXPECT_FALSE(models.has("script:"));
  EXPECT_TRUE(models.has("gpt:2,4,64"));
  EXPECT_FALSE(models.has("gpt"));
  EXPECT_FALSE(models.has("script"));
  EXPECT_EQ(models.names().size(), torch_models().size());
}

}  // namespace
}  // namespace fast
