#include "bench/compare/virtual/virtual_workers.h"

#include <cmath>

#include "fast/data/partition.h"
#include "fast/train/evaluation.h"
#include "stencil/core/random.h"

namespace fast::compare {

VirtualWorkers::VirtualWorkers(const Cell& cell, const Split& split, int models)
    : cell_(cell),
      split_(split),
      count_(cell.workers()),
      batch_(cell.job.batch),
      budget_(cell.budget(split.training.train->size())),
      schedule_(Schedule::parse(cell.job.schedule, cell.strategy.learning_rate, cell.job.warmup)) {
  const std::vector<std::uint32_t> labels = split.training.train->labels();
  for (int rank = 0; rank < count_; ++rank) {
    shards_.push_back(partition(labels, cell.condition.partition, count_, rank, cell.seed));
    // The seeds are those of Worker, so that real and virtual runs see the same batches.
    loaders_.emplace_back(
        split.training, shards_.back(), static_cast<std::size_t>(batch_),
        stencil::Random::derive(cell.seed, 0x6c6f6164ULL + static_cast<std::uint64_t>(rank)));
  }
  for (int i = 0; i < models; ++i) learners_.push_back(make_learner(cell, split.examples, 1));
}

std::vector<std::span<const float>> VirtualWorkers::all_weights() {
  std::vector<std::span<const float>> out;
  for (std::size_t i = 0; i < learners_.size(); ++i) out.push_back(weights(static_cast<int>(i)));
  return out;
}

void VirtualWorkers::set_rate(int i, double progress) {
  learner(i).set_learning_rate(schedule_.rate(progress));
}

void VirtualWorkers::estimate_statistics(int i) {
  if (!cell_.strategy.mixes_statistics()) return;
  fast::estimate_statistics(learner(i), split_.training, shard(i),
                            shared_statistics_batches(count_), cell_.seed);
}

bool VirtualWorkers::step(int i, double progress) {
  set_rate(i, progress);
  return std::isfinite(learner(i).train_step(next(i)).loss);
}

}  // namespace fast::compare
