#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/compare/cell_result.h"
#include "bench/compare/split.h"

namespace fast::compare {

using Weights = std::vector<float>;

/// The mean of models of equal size, and their relative distance from it (rms).
struct Mean {
  Weights weights;
  double consensus = 0;
  bool finite = true;
};
[[nodiscard]] Mean mean_of(const std::vector<std::span<const float>>& models);

/// Evaluates flat weights: loads them into a model of its own, re-estimates BatchNorm's statistics
/// and tests. All strategies are evaluated by this.
class Evaluator {
 public:
  Evaluator(const Cell& cell, const Split& split);

  /// Accuracy and loss of the mean on the held-out examples.
  [[nodiscard]] CurvePoint point(const Mean& mean);
  /// The accuracies of the final mean model, with statistics from all training examples: on the
  /// cell's final set, and on the unseen examples where there are any.
  struct Ending {
    double accuracy = 0;
    std::optional<Unseen> unseen;
  };
  [[nodiscard]] Ending ending(std::span<const float> mean);
  /// The same for a worker's own model. Its statistics are the averaged ones where the strategy
  /// averages them, otherwise those of its own shard.
  [[nodiscard]] double own_accuracy(std::span<const float> weights,
                                    const std::vector<std::uint32_t>& shard);

 private:
  void load(std::span<const float> weights);

  const Split& split_;
  bool statistics_are_mixed_;
  std::uint64_t seed_;
  std::unique_ptr<TorchLearner> learner_;
};

/// Shares of the budget at which curves have points: 1 / points, 2 / points, .., 1.
inline constexpr int kCurvePoints = 10;
[[nodiscard]] inline double mark(int index) {
  return static_cast<double>(index + 1) / kCurvePoints;
}

}  // namespace fast::compare
