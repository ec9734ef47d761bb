// TorchTrainer's step for any model and optimizer: what it equals, and what it refuses.
#include "adapters/torch/torch_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "adapters/torch/step_in_backward.h"
#include "fast/errors.h"
#include "fast/session/session.h"
#include "tests/support/exchange_moves.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Two hidden layers with BatchNorm between them, as a user might write it.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(6, 32));
    norm = register_module("norm", torch::nn::BatchNorm1d(32));
    last = register_module("last", torch::nn::Linear(32, 3));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return last->forward(torch::relu(norm->forward(first->forward(x))));
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

Net make_net() {
  torch::manual_seed(3);
  return Net();
}

struct Examples {
  torch::Tensor x, y;
};
Examples batch(std::uint64_t index) {
  torch::manual_seed(1000 + index);
  const torch::Tensor x = torch::randn({16, 6});
  return {x, torch::randint(3, {16})};
}
torch::Tensor loss_of(Net& net, const Examples& examples) {
  return torch::nn::functional::cross_entropy(net->forward(examples.x), examples.y);
}

/// Weights with decay and biases without, at another rate; `frozen`: the first layer's bias.
std::vector<torch::optim::OptimizerParamGroup> groups_of(Net& net) {
  std::vector<torch::Tensor> weights, others;
  for (const auto& parameter : net->parameters()) {
    (parameter.dim() > 1 ? weights : others).push_back(parameter);
  }
  const auto of = [](double rate, double decay) {
    return std::make_unique<torch::optim::SGDOptions>(
        torch::optim::SGDOptions(rate).momentum(0.9).nesterov(true).weight_decay(decay));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(weights, of(0.05, 1e-2));
  groups.emplace_back(others, of(0.1, 0));
  return groups;
}

std::vector<float> values(Net& net) {
  std::vector<float> all;
  for (const auto& parameter : net->parameters()) {
    const torch::Tensor flat = parameter.detach().reshape(-1).contiguous();
    all.insert(all.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return all;
}

/// The same loop by hand, with the requested options.
template <typename Optimizer>
std::vector<float> by_hand(const std::function<Optimizer(Net&)>& make, int steps, double clip = 0,
                           bool freeze = false) {
  Net net = make_net();
  if (freeze) net->first->bias.requires_grad_(false);
  Optimizer optimizer = make(net);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    loss_of(net, batch(static_cast<std::uint64_t>(step))).backward();
    if (clip > 0) torch::nn::utils::clip_grad_norm_(net->parameters(), clip);
    optimizer.step();
  }
  return values(net);
}

template <typename Optimizer>
std::vector<float> by_trainer(const std::function<Optimizer(Net&)>& make, int steps,
                              TorchTrainerOptions options, bool freeze = false) {
  Net net = make_net();
  if (freeze) net->first->bias.requires_grad_(false);
  Optimizer optimizer = make(net);
  TorchTrainer trainer(*net, optimizer, std::move(options));
  for (int step = 0; step < steps; ++step) {
    (void)trainer.update(loss_of(net, batch(static_cast<std::uint64_t>(step))));
  }
  return values(net);
}

const std::function<torch::optim::SGD(Net&)> kGroups = [](Net& net) {
  return torch::optim::SGD(groups_of(net), torch::optim::SGDOptions(0.05));
};
const std::function<torch::optim::AdamW(Net&)> kAdamW = [](Net& net) {
  return torch::optim::AdamW(net->parameters(), torch::optim::AdamWOptions(0.01));
};

// Nothing is exchanged here, so momentum is not corrected.
TEST(TorchTrainer, AStepIsTheOptimizersToTheBitInTheBackwardPassAndAfterIt) {
  for (const bool in_backward : {false, true}) {
    const TorchTrainerOptions options{.step_in_backward = in_backward};
    EXPECT_EQ(by_trainer(kGroups, 20, options), by_hand(kGroups, 20)) << in_backward;
    EXPECT_EQ(by_trainer(kAdamW, 20, options), by_hand(kAdamW, 20)) << in_backward;
  }
}

TEST(TorchTrainer, FrozenParametersStayAsTheyAre) {
  for (const bool in_backward : {false, true}) {
    const TorchTrainerOptions options{.step_in_backward = in_backward};
    EXPECT_EQ(by_trainer(kGroups, 10, options, true), by_hand(kGroups, 10, 0, true));
  }
  Net net = make_net();
  net->first->bias.requires_grad_(false);
  const torch::Tensor before = net->first->bias.clone();
  torch::optim::SGD optimizer = kGroups(net);
  TorchTrainer trainer(*net, optimizer);
  for (int step = 0; step < 5; ++step) (void)trainer.update(loss_of(net, batch(1)));
  EXPECT_TRUE(torch::equal(net->first->bias, before));
}

TEST(TorchTrainer, ClippingIsByTheNormOfAllGradients) {
  const TorchTrainerOptions options{.clip_norm = 0.1, .step_in_backward = false};
  EXPECT_EQ(by_trainer(kGroups, 10, options), by_hand(kGroups, 10, 0.1));
  EXPECT_NE(by_trainer(kGroups, 10, options), by_hand(kGroups, 10));
}

TEST(TorchTrainer, ClippingWithStepsInTheBackwardPassIsRefusedByName) {
  Net net = make_net();
  torch::optim::SGD optimizer = kGroups(net);
  EXPECT_THAT([&] { TorchTrainer(*net, optimizer, {.clip_norm = 0.5}); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("clip_norm 0.5"), HasSubstr("step_in_backward = false"))));
}

/// Gradients of several losses add up for one step, which the last loss takes.
TEST(TorchTrainer, GradientsCanBeAccumulated) {
  std::vector<std::vector<float>> results;
  for (const int way : {0, 1, 2}) {
    Net net = make_net();
    torch::optim::SGD optimizer = kGroups(net);
    TorchTrainerOptions options{.step_in_backward = way == 1};
    TorchTrainer trainer(*net, optimizer, options);
    for (std::uint64_t step = 0; step < 5; ++step) {
      const auto first = loss_of(net, batch(2 * step));
      if (way == 2) {  // by hand
        optimizer.zero_grad();
        first.backward();
        loss_of(net, batch(2 * step + 1)).backward();
        optimizer.step();
      } else {
        trainer.accumulate(first);
        (void)trainer.update(loss_of(net, batch(2 * step + 1)));
      }
    }
    results.push_back(values(net));
  }
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[2]);
}

TEST(TorchTrainer, AParameterThatIsAddedInMidRunIsRefusedByName) {
  for (const bool in_backward : {false, true}) {
    Net net = make_net();
    torch::optim::SGD optimizer = kGroups(net);
    TorchTrainer trainer(*net, optimizer, {.step_in_backward = in_backward});
    (void)trainer.update(loss_of(net, batch(0)));
    const auto late = net->register_parameter("late", torch::zeros({5}));
    optimizer.param_groups()[1].params().push_back(late);
    EXPECT_THAT([&] { (void)trainer.update(loss_of(net, batch(1))); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr("'late'"), HasSubstr("group 1"))));
  }
}

TEST(TorchTrainer, AParameterOfAnotherModelIsRefused) {
  Net net = make_net();
  std::vector<torch::Tensor> parameters = net->parameters();
  parameters.push_back(torch::ones({2, 7}, torch::requires_grad()));
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.1));
  EXPECT_THAT([&] { TorchTrainer(*net, optimizer); },
              ThrowsMessage<ConfigError>(HasSubstr("a tensor of shape [2, 7]")));
}

TEST(TorchTrainer, OptimizersAndOptionsThatCannotBeAreRefused) {
  Net net = make_net();
  torch::optim::LBFGS often(net->parameters());
  EXPECT_THAT([&] { TorchTrainer(*net, often); }, ThrowsMessage<ConfigError>(HasSubstr("LBFGS")));
  torch::optim::SGD optimizer = kGroups(net);
  EXPECT_THAT([&] { TorchTrainer(*net, optimizer, {.momentum_correction = 2}); },
              ThrowsMessage<ConfigError>(HasSubstr("momentum_correction is 2")));
  EXPECT_THAT([&] { TorchTrainer(*net, optimizer, {.clip_norm = -1}); },
              ThrowsMessage<ConfigError>(HasSubstr("clip_norm is -1")));
}

TEST(TorchTrainer, StatisticsFollowTrainingUntilTheyAreGathered) {
  Net net = make_net();
  torch::optim::SGD optimizer = kGroups(net);
  TorchTrainer trainer(*net, optimizer);
  for (int step = 0; step < 5; ++step) (void)trainer.update(loss_of(net, batch(2)));
  EXPECT_FALSE(torch::equal(net->norm->running_mean, torch::zeros({32})));
  torch::Tensor mean = torch::zeros({32});
  int asked = 0;
  trainer.gather_statistics(4, [&] {
    const Examples examples = batch(static_cast<std::uint64_t>(10 + asked++));
    mean += net->first->forward(examples.x).mean(0) / 4;
    (void)net->forward(examples.x);
  });
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(torch::allclose(net->norm->running_mean, mean, 1e-4, 1e-5));
  const torch::Tensor gathered = net->norm->running_mean.clone();
  (void)trainer.update(loss_of(net, batch(3)));
  const torch::Tensor moved = (net->norm->running_mean - gathered).abs().max();
  EXPECT_GT(moved.item<float>(), 0);
  EXPECT_LT(moved.item<float>(), 0.5) << "a tenth of one batch's";
}

/// Nobody has called gather_statistics(), and rank 0 brings others than 0 and 1.
TEST(TorchTrainer, StatisticsOfAnyLoopAreTheMeanOverWorkersAtTheEnd) {
  auto network = make_inproc_network();
  Net nets[2] = {make_net(), make_net()};
  const Examples examples[2] = {batch(2), batch(3)};
  torch::Tensor own[2];
  const auto work = [&](int rank) {
    Net& net = nets[rank];
    if (rank == 0) {
      const torch::NoGradGuard no_grad;
      net->norm->running_mean += 5;
    }
    torch::optim::SGD optimizer = kGroups(net);
    TorchTrainer trainer(*net, optimizer);
    SessionOptions options{.topology = "ring:2", .rank = rank};
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.inproc = network;
    Session session(trainer.adapter(), options);
    session.join();
    EXPECT_TRUE(torch::equal(net->norm->running_mean, torch::full({32}, 5.0))) << rank;
    for (int step = 0; step < 3; ++step) {
      (void)trainer.step(loss_of(net, examples[rank]), session, 16);
    }
    own[rank] = net->norm->running_mean.clone();
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  };
  {
    std::jthread other([&] { work(1); });
    work(0);
  }
  const torch::Tensor mean = (own[0] + own[1]) / 2;
  EXPECT_FALSE(torch::allclose(own[0], own[1], 1e-3, 1e-3));
  for (Net& net : nets) {
    EXPECT_TRUE(torch::allclose(net->norm->running_mean, mean, 1e-2, 1e-2));
  }
}

TEST(TorchTrainer, AWorkerThatIsCutOffKeepsItsOwnStatistics) {
  Net net = make_net();
  torch::optim::SGD optimizer = kGroups(net);
  TorchTrainer trainer(*net, optimizer);
  SessionOptions alone{.topology = "ring:2"};
  alone.log = [](LogLevel, std::string_view) {};
  alone.exchange.start_deadline = 0.1;
  Session session(trainer.adapter(), alone);
  (void)trainer.step(loss_of(net, batch(2)), session, 16);
  const torch::Tensor own = net->norm->running_var.clone();
  EXPECT_EQ(session.finish(), Agreement::kAlone);
  EXPECT_TRUE(torch::equal(net->norm->running_var, own));
}

TEST(TorchTrainer, StatisticsThatAreNotAveragedFollowTrainingToo) {
  Net net = make_net();
  torch::optim::SGD optimizer = kGroups(net);
  TorchTrainer trainer(*net, optimizer, {.mix_buffers = false});
  (void)trainer.update(loss_of(net, batch(2)));
  EXPECT_FALSE(torch::equal(net->norm->running_mean, torch::zeros({32})));
}

TEST(TorchTrainer, ALossThatIsNoNumberMakesNoStepAndIsNamed) {
  Net net = make_net();
  torch::optim::SGD optimizer = kGroups(net);
  TorchTrainer trainer(*net, optimizer);
  const std::vector<float> before = values(net);
  const torch::Tensor bad = loss_of(net, batch(0)) * std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(trainer.update(bad)));
  EXPECT_EQ(values(net), before);
  Session session(trainer.adapter(), {.topology = "ring:1"});
  session.join();
  EXPECT_THAT([&] { (void)trainer.step(bad, session, 16); },
              ThrowsMessage<NonFiniteError>(AllOf(HasSubstr("nan"), HasSubstr("step 1"))));
  EXPECT_EQ(values(net), before);
  (void)trainer.step(loss_of(net, batch(0)), session, 16);
  EXPECT_EQ(session.steps(), 1U);
  EXPECT_NE(values(net), before);
}

/// Two workers on other data: with the correction, momentum takes in what the exchange moved.
TEST(TorchTrainer, MomentumTakesInWhatNeighboursMovedWithSeveralGroups) {
  std::vector<std::vector<float>> moved;
  for (const double share : {0.0, 0.5}) {
    Net net = make_net();
    torch::optim::SGD optimizer = kGroups(net);
    TorchTrainer trainer(*net, optimizer, {.momentum_correction = share});
    for (std::uint64_t step = 0; step < 3; ++step) {
      (void)trainer.update(loss_of(net, batch(step)));
      test::move_by_exchange(trainer.adapter(),
                             [](float value, std::size_t) { return value + 1e-3F; });
    }
    moved.push_back(values(net));
  }
  EXPECT_NE(moved[0], moved[1]);
}

TEST(StepInBackward, PartsAreOfAboutAsManyValuesTheLastFirst) {
  std::vector<torch::Tensor> parameters;
  for (const int size : {10, 10, 70, 10, 40, 20, 20}) {
    parameters.push_back(torch::zeros({size}).set_requires_grad(true));
  }
  parameters.push_back(torch::zeros({1000}));  // wants no gradient
  const auto parts = StepInBackward::parts(parameters, 3);
  ASSERT_EQ(parts.size(), 3U);
  std::vector<std::int64_t> sizes;
  for (const auto& part : parts) {
    std::int64_t sum = 0;
    for (const auto& parameter : part) sum += parameter.numel();
    sizes.push_back(sum);
  }
  EXPECT_THAT(sizes, ::testing::ElementsAre(40, 50, 90));
  EXPECT_TRUE(parts[0][0].is_same(parameters[6]));
}

}  // namespace
}  // namespace fast
