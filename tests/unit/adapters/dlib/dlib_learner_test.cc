// dlib's models: they resume bit for bit, are refused by name, and evaluate by running statistics.
#include "adapters/dlib/models/dlib_learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fast/errors.h"
#include "tests/support/learner_examples.h"
#include "tests/support/resume_cases.h"

namespace fast::testing {
namespace {

using test::Examples;
using test::options_for;

struct Job {
  const char* name;
  const char* model;
  const char* optimizer;
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.name;
}

class DlibResumeTest : public ::testing::TestWithParam<Job> {};

TEST_P(DlibResumeTest, AKilledWorkerEndsBitForBitWhereItWouldHaveEnded) {
  LoneWorker undisturbed{.make_learner = make_dlib_learner},
      killed{.make_learner = make_dlib_learner};
  for (LoneWorker* const worker : {&undisturbed, &killed}) {
    worker->config.model = GetParam().model;
    worker->config.optimizer.name = GetParam().optimizer;
    if (worker->config.optimizer.name == "adamw") worker->config.optimizer.learning_rate = 1e-3;
  }
  undisturbed.config.checkpoint_every = 0;
  expect_that_resuming_changes_nothing(undisturbed, killed);
}

INSTANTIATE_TEST_SUITE_P(Jobs, DlibResumeTest,
                         ::testing::Values(Job{"Lenet", "lenet", "sgd"},
                                           Job{"LenetAdamW", "lenet", "adamw"},
                                           Job{"Resnet8", "resnet8", "sgd"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DlibLearner, WhatIsUnknownIsRefusedByName) {
  const auto refusal = [](LearnerOptions options) -> std::string {
    try {
      (void)make_dlib_learner(options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  const ImageShape shape{3, 8, 8, 4};
  EXPECT_THAT(refusal(options_for("dlib:mpl", shape)), ::testing::HasSubstr("dlib:mlp"));
  EXPECT_THAT(refusal(options_for("mlp", {})), ::testing::HasSubstr("are no labels"));
  auto options = options_for("mlp", shape);
  options.optimizer.name = "lion";
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("use sgd or adamw"));
}

TEST(DlibLearner, AnImageIsJudgedAlikeInAnyBatch) {
  const ImageShape shape{3, 8, 8, 4};
  const auto learner = make_dlib_learner(options_for("resnet8", shape));
  const Examples examples(shape, 8, 5);
  for (int i = 0; i < 3; ++i) learner->train_step(examples.batch());
  const Batch batch = examples.batch();
  const StepResult together = learner->evaluate(batch);
  StepResult alone;
  for (std::size_t i = 0; i < batch.labels().size(); ++i) {
    const StepResult one = learner->evaluate(
        {batch.images().subspan(i * shape.pixels(), shape.pixels()), batch.labels().subspan(i, 1)});
    alone.loss += one.loss / static_cast<double>(batch.labels().size());
    alone.correct += one.correct;
  }
  EXPECT_NEAR(together.loss, alone.loss, 1e-9);
  EXPECT_EQ(together.correct, alone.correct);
}

TEST(DlibLearner, AFrameworkIsNoPartOfTheArchitecture) {
  EXPECT_EQ(architecture("dlib:resnet8"), "resnet8");
  EXPECT_EQ(architecture("resnet8"), "resnet8");
}

}  // namespace
}  // namespace fast::testing
