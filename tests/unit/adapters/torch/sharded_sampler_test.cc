#include "adapters/torch/sharded_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/data/dataloader.h>
#include <torch/data/datasets/base.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/torch_trainer.h"
#include "fast/errors.h"
#include "fast/session/session.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using Indices = std::vector<std::size_t>;

Indices epoch_of(ShardedSampler& sampler, std::size_t batch) {
  Indices all;
  sampler.reset();
  while (const auto indices = sampler.next(batch)) {
    all.insert(all.end(), indices->begin(), indices->end());
  }
  return all;
}

TEST(ShardedSampler, SharesOutAllExamplesInEachEpochAnew) {
  std::vector<Indices> first(3), second(3);
  for (int rank = 0; rank < 3; ++rank) {
    ShardedSampler sampler(100, rank, 3, 7);
    first[rank] = epoch_of(sampler, 8);
    second[rank] = epoch_of(sampler, 8);
    EXPECT_EQ(first[rank].size(), sampler.size());
    EXPECT_NEAR(static_cast<double>(sampler.size()), 100. / 3, 1);
    EXPECT_NE(first[rank], second[rank]);
  }
  for (const auto& epoch : {first, second}) {
    std::set<std::size_t> all;
    for (const Indices& part : epoch) all.insert(part.begin(), part.end());
    EXPECT_EQ(all.size(), 100U);
    EXPECT_EQ(*all.rbegin(), 99U);
  }
}

TEST(ShardedSampler, InOrderIsThePartOfTheDataInEveryEpoch) {
  ShardedSampler sampler(10, 1, 2, 0, false);
  EXPECT_THAT(epoch_of(sampler, 2), ::testing::ElementsAre(5, 6, 7, 8, 9));
  EXPECT_THAT(epoch_of(sampler, 3), ::testing::ElementsAre(5, 6, 7, 8, 9));
}

TEST(ShardedSampler, RefusesWorkersWithoutAnExample) {
  EXPECT_THROW(ShardedSampler(3, 0, 4), ConfigError);
  EXPECT_THROW(ShardedSampler(8, 4, 4), ConfigError);
  ShardedSampler sampler(8, 0, 4);
  EXPECT_THROW(sampler.reset(std::size_t{9}), ConfigError);
}

TEST(ShardedSampler, GoesOnFromAnArchiveOfLibTorch) {
  ShardedSampler sampler(100, 0, 2, 3);
  const Indices whole = epoch_of(sampler, 50);
  ShardedSampler half(100, 0, 2, 3);
  half.reset();
  (void)half.next(20);
  torch::serialize::OutputArchive out;
  half.save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  ShardedSampler again(100, 0, 2, 3);
  again.load(in);
  EXPECT_EQ(epoch_of(again, 50), Indices(whole.begin() + 20, whole.end()));
}

/// Its examples are their own indices.
struct Numbers : torch::data::datasets::BatchDataset<Numbers, Indices> {
  explicit Numbers(std::size_t examples) : count(examples) {}
  Indices get_batch(torch::ArrayRef<std::size_t> indices) override { return indices.vec(); }
  [[nodiscard]] torch::optional<std::size_t> size() const override { return count; }
  std::size_t count;
};

/// Examples of so many steps, in epochs of 30.
std::size_t examples_of(std::uint64_t steps) {
  return steps / 8 * 30 + steps % 8 * 4;
}

/// Steps of 4 examples by a loader that reads ahead. Returns the examples in their order, after as
/// many as were trained on in earlier lives.
std::pair<std::size_t, Indices> train(int steps, const std::string& resume,
                                      const std::string& save) {
  torch::nn::Linear model(1, 1);
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  TorchTrainer trainer(*model, optimizer);
  SessionOptions options;
  options.resume = resume;
  options.checkpoint = save;
  options.checkpoint_every = 1e-9;  // within each exchange
  ShardedSampler sampler(30, options.rank, options.workers(), options.seed);
  trainer.adapter().attach(sampler.place());
  Session session(trainer.adapter(), options);
  session.join();
  auto loader = torch::data::make_data_loader(
      Numbers(30), sampler, torch::data::DataLoaderOptions().batch_size(4).workers(2).max_jobs(6));
  const std::size_t before = examples_of(session.steps());
  Indices seen;
  while (session.steps() < static_cast<std::uint64_t>(steps)) {
    for (const Indices& batch : *loader) {
      if (session.steps() >= static_cast<std::uint64_t>(steps)) continue;  // drains the loader
      seen.insert(seen.end(), batch.begin(), batch.end());
      trainer.step(model->forward(torch::ones({1, 1})).sum(), session, batch.size());
    }
  }
  return {before, seen};
}

TEST(ShardedSampler, ALoaderGoesOnInTheMiddleOfAnEpoch) {
  const testing::TemporaryFolder folder;
  const std::string file = (folder.path() / "c.safetensors").string();
  const Indices whole = train(20, "", "").second;
  for (const int steps : {5, 8, 11}) {  // in the first epoch, at its end, in the second
    std::filesystem::remove(file);
    Indices parts = train(steps, "", file).second;
    // The file may be of an earlier step: where one is being written, no other is begun.
    const auto [before, rest] = train(20, file, "");
    ASSERT_GT(before, 0U);
    parts.resize(before);
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole) << steps;
  }
}

}  // namespace
}  // namespace fast
