#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "fast/data/dataset.h"
#include "fast/run/measure.h"
#include "fast/train/learner.h"

namespace fast {

/// The number of batches on which statistics are re-estimated.
inline constexpr int kStatisticsBatches = 100;
/// Images that are evaluated at a time.
inline constexpr std::size_t kTestBatch = 100;

/// The same for each of `workers` workers whose statistics will be averaged: fewer are enough.
[[nodiscard]] constexpr int shared_statistics_batches(int workers) {
  return std::max(10, kStatisticsBatches / workers);
}

/// Re-estimates normalisation statistics on up to `batches` batches drawn from these training
/// examples, without augmentation. Does nothing for models without statistics. When `stop` is given
/// and becomes true, ends early, after at least one batch.
void estimate_statistics(Learner& learner, const Dataset& data, std::vector<std::uint32_t> examples,
                         int batches, std::uint64_t seed, const std::atomic<bool>* stop = nullptr);

struct TestResult {
  double accuracy = 0;  ///< a fraction; NaN: there is no right and wrong
  double loss = 0;
  /// What chance alone makes: the share of the most common label, and two standard errors. 0 where
  /// the test set is too small to tell.
  double chance = 0;
  /// What people tell models of such targets apart by, beside these: "perplexity" of tokens,
  /// e^loss; "mean absolute error" of numbers. No name: nothing.
  Measure measure{};
  [[nodiscard]] bool learnt() const { return !(accuracy <= chance); }
};
/// "test accuracy 71.3 %", for people, or the loss where there is none; with its measure, if any.
[[nodiscard]] std::string in_words(const TestResult& result);
/// Nothing for NaN.
[[nodiscard]] inline std::optional<double> known(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

/// Evaluates the whole test set, but for examples that hold NaN or infinity. Throws DataError where
/// all do.
[[nodiscard]] TestResult test(Learner& learner, const Dataset& data);
/// The same; returns nothing where `stop` became true before the end. `most`: only so many
/// examples, evenly spread over the set, for all workers the same; 0: all.
[[nodiscard]] std::optional<TestResult> test(Learner& learner, const Dataset& data,
                                             const std::atomic<bool>& stop, std::size_t most = 0);

/// Loads the model in `tensors`, re-estimates its statistics, evaluates it, and writes the new
/// statistics back into the tensors' bytes. Throws DataError where `stop` is given and became true.
[[nodiscard]] TestResult evaluate_model(std::span<const NamedTensor> tensors, Learner& learner,
                                        const Dataset& data, std::uint64_t seed,
                                        const std::atomic<bool>* stop = nullptr);

}  // namespace fast
