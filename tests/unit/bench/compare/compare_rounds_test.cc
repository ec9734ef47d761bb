// The results of strategies in rounds, compared with plain LibTorch.
#include "bench/compare/virtual/rounds.h"

#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/sgd.h>

#include "adapters/torch/models/model.h"
#include "adapters/torch/models/models.h"

namespace fast::compare {
namespace {

constexpr int kRounds = 2;
constexpr double kRate = 0.05;

Cell cell_of(const std::string& strategy) {
  Cell cell;
  cell.job.model = "mlp";
  cell.job.data = "synthetic:512,64";
  cell.job.validation = 64;
  cell.job.schedule = "constant";
  cell.job.warmup = 0;
  cell.condition.topology = "ring:4";
  cell.strategy.name = strategy;
  cell.strategy.learning_rate = kRate;
  return cell;
}

/// One worker in plain LibTorch, except for our initial weights and batches.
struct Plain {
  Plain(const Cell& cell, const ImageShape& shape)
      : shape(shape),
        model(make_model(cell.job.model, shape, cell.seed)),
        optimizer(model->parameters(), torch::optim::SGDOptions(kRate)
                                           .momentum(cell.job.momentum)
                                           .nesterov(cell.job.nesterov)
                                           .weight_decay(cell.job.weight_decay)) {}
  torch::Tensor loss(const Batch& batch) const {
    const auto images = torch::from_blob(const_cast<float*>(batch.images().data()),
                                         {static_cast<std::int64_t>(batch.labels().size()),
                                          shape.channels, shape.height, shape.width});
    const auto labels =
        torch::from_blob(const_cast<std::int64_t*>(batch.labels().data()),
                         {static_cast<std::int64_t>(batch.labels().size())}, torch::kInt64);
    return torch::nn::functional::cross_entropy(model->forward(images), labels);
  }
  torch::Tensor flat() const {
    std::vector<torch::Tensor> parts;
    for (const auto& p : model->parameters()) parts.push_back(p.detach().reshape(-1));
    return torch::cat(parts).clone();
  }
  void set(const torch::Tensor& values) const {
    const torch::NoGradGuard no_grad;
    std::int64_t at = 0;
    for (auto& p : model->parameters()) {
      p.copy_(values.slice(0, at, at + p.numel()).reshape(p.sizes()));
      at += p.numel();
    }
  }

  ImageShape shape;
  std::shared_ptr<Model> model;
  torch::optim::SGD optimizer;
};

double distance(VirtualWorkers& workers, int worker, const torch::Tensor& reference) {
  const auto weights = workers.weights(worker);
  const auto ours = torch::from_blob(weights.data(), {static_cast<std::int64_t>(weights.size())});
  return (ours - reference).norm().item<double>() / reference.norm().item<double>();
}

class Averaging : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Averaging,
                         ::testing::Values("allreduce", "parameter-server-sync"));

TEST_P(Averaging, is_one_optimizer_step_on_the_mean_gradient_of_all_workers) {
  const Cell cell = cell_of(GetParam());
  const Split split = load_split(cell, {});
  const auto strategy = make_round_strategy(cell, split);
  VirtualWorkers batches(cell, split, 0);
  Plain plain(cell, image_shape(split.examples, cell.job.model));
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(strategy->round(0, false));
    plain.optimizer.zero_grad();
    for (int worker = 0; worker < 4; ++worker) (plain.loss(batches.next(worker)) / 4).backward();
    plain.optimizer.step();
  }
  EXPECT_LT(distance(strategy->workers(), 0, plain.flat()), 1e-6);
}

TEST(LockStep, is_a_step_of_each_and_then_metropolis_hastings_weights) {
  const Cell cell = cell_of("stencil-sync");
  const Split split = load_split(cell, {});
  const auto strategy = make_round_strategy(cell, split);
  VirtualWorkers batches(cell, split, 0);
  std::vector<std::unique_ptr<Plain>> plain;
  for (int i = 0; i < 4; ++i) {
    plain.push_back(std::make_unique<Plain>(cell, image_shape(split.examples, cell.job.model)));
  }
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(strategy->round(0, false));
    std::vector<torch::Tensor> x;
    for (int i = 0; i < 4; ++i) {
      plain[i]->optimizer.zero_grad();
      plain[i]->loss(batches.next(i)).backward();
      plain[i]->optimizer.step();
      x.push_back(plain[i]->flat());
    }
    // ring:4: every worker has two neighbours, so all weights are 1 / 3.
    for (int i = 0; i < 4; ++i) plain[i]->set((x[i] + x[(i + 1) % 4] + x[(i + 3) % 4]) / 3);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_LT(distance(strategy->workers(), i, plain[i]->flat()), 1e-6) << i;
  }
}

TEST(Local, is_each_for_itself) {
  const Cell cell = cell_of("local");
  const Split split = load_split(cell, {});
  const auto strategy = make_round_strategy(cell, split);
  VirtualWorkers batches(cell, split, 0);
  Plain plain(cell, image_shape(split.examples, cell.job.model));
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(strategy->round(0, false));
    plain.optimizer.zero_grad();
    plain.loss(batches.next(2)).backward();
    plain.optimizer.step();
  }
  EXPECT_LT(distance(strategy->workers(), 2, plain.flat()), 1e-6);
  EXPECT_GT(distance(strategy->workers(), 1, plain.flat()), 1e-6) << "another shard";
}

}  // namespace
}  // namespace fast::compare
