#include "bench/compare/evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fast/train/evaluation.h"

namespace fast::compare {
namespace {

constexpr int kPointBatches = 20;

double finite(double value) {
  return std::isfinite(value) ? value : 1e9;
}

}  // namespace

Mean mean_of(const std::vector<std::span<const float>>& models) {
  const std::size_t size = models.front().size();
  const auto count = static_cast<double>(models.size());
  std::vector<double> mean(size);
  for (const auto model : models) {
    for (std::size_t i = 0; i < size; ++i) mean[i] += model[i] / count;
  }
  double norm2 = 0, spread2 = 0;
  for (const double m : mean) norm2 += m * m;
  for (const auto model : models) {
    for (std::size_t i = 0; i < size; ++i) spread2 += (model[i] - mean[i]) * (model[i] - mean[i]);
  }
  Mean out;
  out.weights.assign(mean.begin(), mean.end());
  out.finite = std::isfinite(norm2) && std::isfinite(spread2);
  out.consensus = out.finite && norm2 > 0 ? std::sqrt(spread2 / count / norm2) : 0;
  return out;
}

Evaluator::Evaluator(const Cell& cell, const Split& split)
    : split_(split),
      statistics_are_mixed_(cell.strategy.mixes_statistics()),
      seed_(cell.seed),
      learner_(make_learner(cell, split.examples, 1)) {}

void Evaluator::load(std::span<const float> weights) {
  std::ranges::copy(weights, learner_->adapter().values().begin());
}

CurvePoint Evaluator::point(const Mean& mean) {
  CurvePoint point;
  point.consensus = mean.consensus;
  if (!mean.finite || split_.validation.test->size() == 0) return point;
  load(mean.weights);
  std::vector<std::uint32_t> examples(split_.validation.train->size());
  std::iota(examples.begin(), examples.end(), 0U);
  estimate_statistics(*learner_, split_.validation, std::move(examples), kPointBatches, seed_);
  const TestResult result = test(*learner_, split_.validation);
  point.accuracy = result.accuracy;
  point.loss = finite(result.loss);
  return point;
}

Evaluator::Ending Evaluator::ending(std::span<const float> mean) {
  load(mean);
  std::vector<std::uint32_t> examples(split_.training.train->size());
  std::iota(examples.begin(), examples.end(), 0U);
  estimate_statistics(*learner_, split_.training, std::move(examples), kStatisticsBatches, seed_);
  Ending out{.accuracy = test(*learner_, split_.training).accuracy, .unseen = {}};
  if (const std::size_t unseen = split_.unseen.test->size(); unseen > 0) {
    const TestResult result = test(*learner_, split_.unseen);
    out.unseen = {.examples = unseen, .accuracy = result.accuracy, .loss = finite(result.loss)};
  }
  return out;
}

double Evaluator::own_accuracy(std::span<const float> weights,
                               const std::vector<std::uint32_t>& shard) {
  load(weights);
  if (!statistics_are_mixed_) {
    estimate_statistics(*learner_, split_.training, shard, kStatisticsBatches, seed_);
  }
  return test(*learner_, split_.training).accuracy;
}

}  // namespace fast::compare
