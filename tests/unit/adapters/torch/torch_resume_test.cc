// A LibTorch model resumes bit for bit: optimizer, momentum correction, statistics, random numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/schedulers/step_lr.h>
#include <torch/optim/sgd.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/torch/models/torch_learner.h"
#include "adapters/torch/scheduler_steps.h"
#include "adapters/torch/torch_trainer.h"
#include "fast/data/synthetic.h"
#include "fast/session/session.h"
#include "tests/support/cifar_files.h"
#include "tests/support/resume_cases.h"
#include "tests/support/script_files.h"

namespace fast::testing {
namespace {

struct Job {
  const char* name;
  const char* model;
  const char* optimizer;
  const char* buffers;
  const char* data = "synthetic:200,50";
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.name;
}

class TorchResumeTest : public ::testing::TestWithParam<Job> {};

TEST_P(TorchResumeTest, AKilledWorkerEndsBitForBitWhereItWouldHaveEnded) {
  const TemporaryFolder folder;
  save_script(folder.path() / "own.pt", kSyntheticShape.pixels(), kSyntheticShape.classes);
  Bytes text;
  for (std::size_t i = 0; i < 2500; ++i) text.push_back(static_cast<std::uint8_t>(i * i % 251));
  write_bytes(folder.path() / "text", text);
  const auto learner = [](const LearnerOptions& options) {
    return std::make_unique<TorchLearner>(options);
  };
  LoneWorker undisturbed{.make_learner = learner}, killed{.make_learner = learner};
  for (LoneWorker* const worker : {&undisturbed, &killed}) {
    worker->config.model = fmt::format(fmt::runtime(GetParam().model), folder.path().string());
    worker->config.data = fmt::format(fmt::runtime(GetParam().data), folder.path().string());
    worker->config.optimizer.name = GetParam().optimizer;
    worker->config.buffers = GetParam().buffers;
    if (worker->config.optimizer.name == "adamw") worker->config.optimizer.learning_rate = 1e-3;
  }
  undisturbed.config.checkpoint_every = 0;
  expect_that_resuming_changes_nothing(undisturbed, killed);
}

INSTANTIATE_TEST_SUITE_P(Jobs, TorchResumeTest,
                         ::testing::Values(Job{"Linear", "linear", "sgd", "mix"},
                                           Job{"LinearAdamW", "linear", "adamw", "mix"},
                                           Job{"Resnet8", "resnet8", "sgd", "mix"},
                                           Job{"Resnet8LocalStatistics", "resnet8", "sgd", "local"},
                                           Job{"Script", "script:{}/own.pt", "sgd", "mix"},
                                           Job{"Gpt", "gpt:1,2,8", "adamw", "mix",
                                               "text:{}/text,10"}),
                         [](const auto& info) { return std::string(info.param.name); });

struct NetImpl : torch::nn::Module {
  NetImpl()
      : first(register_module("first", torch::nn::Linear(4, 8))),
        drop(register_module("drop", torch::nn::Dropout(0.5))),
        last(register_module("last", torch::nn::Linear(8, 1))) {}
  torch::Tensor forward(const torch::Tensor& x) { return last(drop(torch::relu(first(x)))); }
  torch::nn::Linear first;
  torch::nn::Dropout drop;
  torch::nn::Linear last;
};
TORCH_MODULE(Net);

using MakeOptimizer =
    std::unique_ptr<torch::optim::Optimizer> (*)(std::vector<torch::Tensor> parameters);

/// A loop of a user's own, of `steps`; returns the model's values.
std::vector<float> train(MakeOptimizer make, int steps, const std::string& resume,
                         const std::string& save, torch::ScalarType type = torch::kFloat32) {
  torch::manual_seed(resume.empty() ? 1 : 99);
  Net model;
  model->to(type);
  const auto optimizer = make(model->parameters());
  TorchTrainer trainer(*model, *optimizer);
  SessionOptions options;
  options.resume = resume;
  Session session(trainer.adapter(), options);
  session.join();
  while (session.steps() < static_cast<std::uint64_t>(steps)) {
    const torch::Tensor x = torch::randn({16, 4}).to(type);
    trainer.step((model->forward(x) - x.sum(1, true)).square().mean(), session, 16);
  }
  if (!save.empty()) session.save_checkpoint(save);
  const auto values = trainer.adapter().values();
  return {values.begin(), values.end()};
}

TEST(TorchTrainerResumeTest, ModelsOfOtherTypesComeAlong) {
  const MakeOptimizer adam = [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
    return std::make_unique<torch::optim::Adam>(p);
  };
  const testing::TemporaryFolder folder;
  for (const auto type : {torch::kFloat64, torch::kBFloat16}) {
    SCOPED_TRACE(torch::toString(type));
    const std::string file =
        (folder.path() / (std::string(torch::toString(type)) + ".st")).string();
    const std::vector<float> whole = train(adam, 10, "", "", type);
    (void)train(adam, 5, "", file, type);
    EXPECT_EQ(train(adam, 10, file, "", type), whole);
  }
}

TEST(TorchTrainerResumeTest, SchedulersGoOnWhereTheyStood) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "c.safetensors").string();
  const auto rate_after = [&](int steps, const std::string& resume, const std::string& save) {
    Net model;
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.08));
    torch::optim::StepLR halves(optimizer, 4, 0.5);
    SchedulerSteps schedule(halves, optimizer);
    TorchTrainer trainer(*model, optimizer);
    trainer.adapter().attach(schedule);
    SessionOptions options;
    options.resume = resume;
    options.checkpoint = save;
    options.checkpoint_every = 1e-9;  // within each exchange
    Session session(trainer.adapter(), options);
    session.join();
    while (session.steps() < static_cast<std::uint64_t>(steps)) {
      trainer.step(model->forward(torch::randn({16, 4})).square().mean(), session, 16);
    }
    return optimizer.param_groups()[0].options().get_lr();
  };
  const double whole = rate_after(10, "", "");
  EXPECT_DOUBLE_EQ(rate_after(6, "", file), 0.04);
  EXPECT_DOUBLE_EQ(rate_after(10, file, ""), whole);
  EXPECT_DOUBLE_EQ(whole, 0.02);
}

/// As in a user's program: only the session is configured for checkpoints.
TEST(TorchTrainerResumeTest, EveryOptimizerComesAlong) {
  const std::vector<std::pair<const char*, MakeOptimizer>> optimizers = {
      {"SGD",
       [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
         return std::make_unique<torch::optim::SGD>(p,
                                                    torch::optim::SGDOptions(0.01).momentum(0.9));
       }},
      {"Adam",
       [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
         return std::make_unique<torch::optim::Adam>(p, torch::optim::AdamOptions().amsgrad(true));
       }},
      {"AdamW",
       [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
         return std::make_unique<torch::optim::AdamW>(p);
       }},
      {"Adagrad",
       [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
         return std::make_unique<torch::optim::Adagrad>(p);
       }},
      {"RMSprop",
       [](auto p) -> std::unique_ptr<torch::optim::Optimizer> {
         return std::make_unique<torch::optim::RMSprop>(
             p, torch::optim::RMSpropOptions(0.01).momentum(0.5).centered(true));
       }},
  };
  const TemporaryFolder folder;
  for (const auto& [name, make] : optimizers) {
    const std::string file = (folder.path() / name).string() + ".safetensors";
    const std::vector<float> at_once = train(make, 20, "", "");
    (void)train(make, 9, "", file);
    EXPECT_EQ(train(make, 20, file, ""), at_once) << name;
  }
}

}  // namespace
}  // namespace fast::testing
