// dlib's models are LibTorch's, number by number: layout, initial weights, steps and judgement.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/dlib/models/dlib_learner.h"
#include "adapters/torch/models/torch_learner.h"
#include "fast/model/carried_arrays.h"
#include "stencil/core/layout.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::Examples;
using test::options_for;

struct Job {
  const char* name;
  const char* model;
  const char* optimizer;
  ImageShape shape;
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.name;
}

class DlibLikeTorch : public ::testing::TestWithParam<Job> {
 protected:
  void SetUp() override {
    LearnerOptions options = options_for(GetParam().model, GetParam().shape);
    options.optimizer.name = GetParam().optimizer;
    options.optimizer.learning_rate = options.optimizer.name == "sgd" ? 0.02 : 1e-3;
    options.mix_buffers = true;
    of_dlib_ = make_dlib_learner(options);
    of_torch_ = std::make_unique<TorchLearner>(options);
  }

  static std::vector<float> values(Learner& learner) {
    const std::span<float> values = learner.adapter().values();
    learner.adapter().pull(0, values.size());
    return {values.begin(), values.end()};
  }

  std::unique_ptr<Learner> of_dlib_, of_torch_;
};

TEST_P(DlibLikeTorch, LayoutAndInitialWeightsAreTheSame) {
  const auto dlib = of_dlib_->adapter().parameters(), torch = of_torch_->adapter().parameters();
  EXPECT_EQ(stencil::Layout(dlib).hash(), stencil::Layout(torch).hash());
  EXPECT_EQ(describe_carried(of_dlib_->adapter()), describe_carried(of_torch_->adapter()));
  EXPECT_EQ(values(*of_dlib_), values(*of_torch_));
}

TEST_P(DlibLikeTorch, StepsAreTheSameButForRounding) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Examples examples(GetParam().shape, 8, i);
    const StepResult dlib = of_dlib_->train_step(examples.batch());
    const StepResult torch = of_torch_->train_step(examples.batch());
    EXPECT_NEAR(dlib.loss, torch.loss, 1e-3 * torch.loss) << "step " << i;
    EXPECT_EQ(dlib.correct, torch.correct) << "step " << i;
  }
  const auto dlib = values(*of_dlib_), torch = values(*of_torch_);
  double difference = 0, moved = 0;
  const auto before = values(*std::make_unique<TorchLearner>([&] {
    LearnerOptions options = options_for(GetParam().model, GetParam().shape);
    options.mix_buffers = true;
    return options;
  }()));
  for (std::size_t i = 0; i < torch.size(); ++i) {
    difference += (dlib[i] - torch[i]) * (dlib[i] - torch[i]);
    moved += (torch[i] - before[i]) * (torch[i] - before[i]);
  }
  EXPECT_LT(difference, 1e-4 * moved) << "a hundredth of the way";
}

TEST_P(DlibLikeTorch, StatisticsOfABatchAreJudgedAlike) {
  const Examples examples(GetParam().shape, 32, 9);
  for (Learner* const learner : {of_dlib_.get(), of_torch_.get()}) {
    learner->begin_statistics();
    for (std::uint64_t i = 0; i < 3; ++i) {
      learner->accumulate_statistics(Examples(GetParam().shape, 16, i).batch());
    }
  }
  const StepResult dlib = of_dlib_->evaluate(examples.batch());
  const StepResult torch = of_torch_->evaluate(examples.batch());
  EXPECT_NEAR(dlib.loss, torch.loss, 1e-4 * torch.loss);
}

INSTANTIATE_TEST_SUITE_P(Models, DlibLikeTorch,
                         ::testing::Values(Job{"Mlp", "mlp", "sgd", {1, 6, 5, 3}},
                                           Job{"MlpAdamW", "mlp", "adamw", {3, 4, 4, 5}},
                                           Job{"Resnet8", "resnet8", "sgd", {3, 8, 8, 4}},
                                           Job{"Resnet8OddSides", "resnet8", "sgd", {1, 9, 11, 4}}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fast
