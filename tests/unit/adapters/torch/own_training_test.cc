// What a user changes of the training itself: frozen parameters, rates of their own, losses of
// their own, and dropout in a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/models/torch_learner.h"
#include "fast/errors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::Examples;
using test::options_for;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using ::testing::ThrowsMessage;

constexpr ImageShape kShape{1, 2, 3, 4};

std::vector<float> values_of(Learner& learner, const std::string& name) {
  for (const NamedTensor& tensor : learner.adapter().state()) {
    if (tensor.name != name) continue;
    const auto* const first = reinterpret_cast<const float*>(tensor.bytes.data());
    return {first, first + tensor.bytes.size() / sizeof(float)};
  }
  return {};
}

Role role_of(Learner& learner, const std::string& name) {
  const auto state = learner.adapter().state();
  return std::ranges::find(state, name, &NamedTensor::name)->role;
}

/// How far a step of plain gradient descent moves the first value of each of two parameters.
std::pair<double, double> moves(LearnerOptions options) {
  options.optimizer = {.name = "sgd", .learning_rate = 1, .momentum = 0, .weight_decay = 0};
  TorchLearner learner(options);
  const auto moved = [&](const std::string& name, const std::vector<float>& before) {
    return std::abs(static_cast<double>(values_of(learner, name)[0]) - before[0]);
  };
  const auto bias = values_of(learner, "fc.bias"), hidden = values_of(learner, "hidden2.bias");
  learner.set_learning_rate(0.5);
  (void)learner.train_step(Examples(kShape, 16, 1).batch());
  return {moved("fc.bias", bias), moved("hidden2.bias", hidden)};
}

TEST(OwnTraining, WhatIsFrozenStaysAndIsCarried) {
  for (const bool overlap : {false, true}) {
    LearnerOptions options = options_for("mlp", kShape);
    options.freeze = "hidden?.*,fc.bias";
    options.overlap = overlap;
    TorchLearner learner(options);
    const auto hidden = values_of(learner, "hidden1.weight"), fc = values_of(learner, "fc.weight");
    (void)learner.train_step(Examples(kShape, 16, 1).batch());
    EXPECT_EQ(values_of(learner, "hidden1.weight"), hidden);
    EXPECT_NE(values_of(learner, "fc.weight"), fc);
    EXPECT_EQ(role_of(learner, "fc.bias"), Role::kCarried);
    EXPECT_EQ(role_of(learner, "fc.weight"), Role::kTrained);
    EXPECT_EQ(learner.adapter().parameters().size(), 1U) << "only that is exchanged";
  }
}

TEST(OwnTraining, APatternHasARateOfItsOwn) {
  const auto plain = moves(options_for("mlp", kShape));
  LearnerOptions options = options_for("mlp", kShape);
  options.rate_of = "fc.*=0.25,*bias=3";
  for (const bool overlap : {false, true}) {
    options.overlap = overlap;
    const auto own = moves(options);
    EXPECT_NEAR(own.first, 0.25 * plain.first, 1e-6) << "the first that fits counts";
    EXPECT_NEAR(own.second, 3 * plain.second, 1e-6);
  }
}

TEST(OwnTraining, PatternsThatFitNothingOrAllAreRefused) {
  const auto refused = [](const std::string& freeze, const std::string& rate) {
    LearnerOptions options = options_for("mlp", kShape);
    options.freeze = freeze;
    options.rate_of = rate;
    return [options] { (void)std::make_unique<TorchLearner>(options); };
  };
  EXPECT_THAT(refused("x.*", ""),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("--freeze 'x.*' fits no parameter"),
                                               HasSubstr("hidden1.weight"))));
  EXPECT_THAT(refused("", "x.*=2"),
              ThrowsMessage<ConfigError>(HasSubstr("--rate-of 'x.*' fits no parameter")));
  EXPECT_THAT(refused("*", ""), ThrowsMessage<ConfigError>(HasSubstr("nothing is trained")));
}

class OwnScripts : public ::testing::Test {
 protected:
  std::string save(const char* code) {
    torch::jit::Module script("Own");
    script.define(code);
    const std::string file = (folder_.path() / "own.pt").string();
    script.save(file);
    return "script:" + file;
  }
  TemporaryFolder folder_;
};

TEST_F(OwnScripts, ALossOfOnesOwnTrainsAsThatOfOurs) {
  LearnerOptions ours = options_for("mlp", kShape);
  LearnerOptions own = ours;
  own.loss = save(R"(
def forward(self, output, target):
    return torch.nll_loss(torch.log_softmax(output, 1), target)
)");
  TorchLearner one(ours), other(own);
  const Examples examples(kShape, 16, 1);
  for (int i = 0; i < 3; ++i) {
    const StepResult expected = one.train_step(examples.batch());
    const StepResult found = other.train_step(examples.batch());
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    EXPECT_EQ(found.correct, expected.correct) << "labels are right or wrong";
  }
  EXPECT_EQ(other.evaluate(examples.batch()).correct, one.evaluate(examples.batch()).correct);
}

TEST_F(OwnScripts, ALossOfNumbersKnowsNoRightAndWrong) {
  LearnerOptions own = options_for("mlp", kShape);
  own.examples.target = {ValueType::kFloat32, {2}};
  own.examples.classes = 0;
  own.loss = save(R"(
def forward(self, output, target):
    return torch.mean(torch.pow(torch.sub(output, target), 2))
)");
  TorchLearner learner(own);
  const std::vector<float> inputs(16 * kShape.pixels(), 0.5F), targets(32, 1.0F);
  const Batch batch(16, std::span<const float>(inputs), std::span<const float>(targets));
  const double first = learner.train_step(batch).loss;
  for (int i = 0; i < 20; ++i) (void)learner.train_step(batch);
  const StepResult now = learner.evaluate(batch);
  EXPECT_LT(now.loss, first);
  EXPECT_TRUE(std::isnan(now.correct));
  EXPECT_GT(now.distance, 0);
}

TEST_F(OwnScripts, ALossThatIsNoneIsRefusedByFileCauseAndRemedy) {
  const auto refused = [](const std::string& loss) {
    LearnerOptions options = options_for("mlp", kShape);
    options.loss = loss;
    return [options] { (void)std::make_unique<TorchLearner>(options); };
  };
  EXPECT_THAT(refused("script:/no/where.pt"),
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("loss script:/no/where.pt"), HasSubstr("no such file"))));
  testing::write_bytes(folder_.path() / "bad.pt", testing::Bytes(100, 7));
  EXPECT_THAT(refused("script:" + (folder_.path() / "bad.pt").string()),
              ThrowsMessage<ConfigError>(HasSubstr("bad.pt is no TorchScript")));
  EXPECT_THAT(refused(save(R"(
def forward(self, output, target):
    return torch.sub(output, 1)
)")),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("gives [2, 4] of"),
                                               HasSubstr("not one number"), HasSubstr("; take"))));
  EXPECT_THAT(refused(save(R"(
def forward(self, output):
    return torch.mean(output)
)")),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("cannot take [2, 4]"), HasSubstr("; "))));
}

TEST_F(OwnScripts, DropoutFollowsSeedAndRank) {
  torch::jit::Module script("Own");
  script.register_parameter("weight", torch::ones({4, 6}), false);
  script.attr("weight").toTensor().requires_grad_(true);
  script.register_attribute("training", c10::BoolType::get(), true);
  script.define(R"(
def forward(self, x):
    kept = torch.dropout(torch.flatten(x, 1), 0.5, self.training)
    return torch.matmul(kept, torch.t(self.weight) * torch.tensor([1., 2., 3., 4.]))
)");
  const std::string file = (folder_.path() / "dropout.pt").string();
  script.save(file);
  const auto loss = [&](std::uint64_t seed, std::uint64_t rank) {
    LearnerOptions options = options_for("script:" + file, kShape);
    options.seed = seed;
    options.stream = rank;
    return TorchLearner(options).train_step(Examples(kShape, 16, 1).batch()).loss;
  };
  const double first = loss(1, 0);
  EXPECT_EQ(loss(1, 0), first);
  EXPECT_NE(loss(1, 1), first);
  EXPECT_NE(loss(2, 0), first);
}

}  // namespace
}  // namespace fast
