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

/// The mean of models of equal size, and how far they are from it, relatively (rms).
struct Mean {
  Weights weights;
  double consensus = 0;
  bool finite = true;
};
[[nodiscard]] Mean mean_of(const std::vector<std::span<const float>>& models);

/// Judges flat weights: loads them into a model of its own, re-estimates BatchNorm's statistics and
/// evaluates. Every strategy is judged by this.
class Evaluator {
 public:
  Evaluator(const Cell& cell, const Split& split);

  /// Accuracy and loss of the mean on the held-out examples.
  [[nodiscard]] CurvePoint point(const Mean& mean);
  /// Of the mean model in the end, with statistics from all training examples: its accuracy on the
  /// cell's final set; and on the unseen examples, where there are any.
  struct Ending {
    double accuracy = 0;
    std::optional<Unseen> unseen;
  };
  [[nodiscard]] Ending ending(std::span<const float> mean);
  /// The same of a worker's own model: statistics as its neighbours and it agreed on them, where
  /// the strategy does that, or from its own shard.
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
