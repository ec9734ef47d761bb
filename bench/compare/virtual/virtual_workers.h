#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/compare/evaluator.h"
#include "bench/compare/split.h"
#include "fast/data/loader.h"
#include "fast/train/schedule.h"

namespace fast::compare {

/// The workers of a virtual run: real models and real data in one thread. A strategy adds how their
/// weights are averaged.
class VirtualWorkers {
 public:
  /// `models` is the number of models: one for each worker, or one where all replicas are equal.
  VirtualWorkers(const Cell& cell, const Split& split, int models);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int batch() const { return batch_; }
  [[nodiscard]] std::uint64_t budget() const { return budget_; }
  [[nodiscard]] TorchLearner& learner(int i) { return *learners_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<float> weights(int i) { return learner(i).adapter().values(); }
  [[nodiscard]] std::vector<std::span<const float>> all_weights();
  [[nodiscard]] const std::vector<std::uint32_t>& shard(int worker) const {
    return shards_[static_cast<std::size_t>(worker)];
  }
  [[nodiscard]] Batch next(int worker) { return loaders_[static_cast<std::size_t>(worker)].next(); }

  /// Sets the rate for this share of the budget.
  void set_rate(int i, double progress);
  /// Call it before models are averaged for the last time: estimates worker i's statistics on its
  /// own shard, where the strategy averages those too.
  void estimate_statistics(int i);
  /// Takes one local step of worker i at `progress`. Returns false where the loss is not finite.
  bool step(int i, double progress);

 private:
  const Cell& cell_;
  const Split& split_;
  int count_, batch_;
  std::uint64_t budget_;
  Schedule schedule_;
  std::vector<std::vector<std::uint32_t>> shards_;
  std::vector<TrainLoader> loaders_;
  std::vector<std::unique_ptr<TorchLearner>> learners_;
};

}  // namespace fast::compare
