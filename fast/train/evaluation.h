#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fast/adapter.h"
#include "fast/data/dataset.h"
#include "fast/train/learner.h"

namespace fast {

/// Copies saved tensors into a model, by name. Throws FileError, naming the tensor, where the two
/// do not match in names, types or sizes.
void load_state(std::span<const NamedTensor> from, ModelAdapter& model);

/// How many batches statistics are re-estimated on.
inline constexpr int kStatisticsBatches = 100;

/// The same for each of `workers` whose statistics will be averaged: fewer do.
[[nodiscard]] constexpr int shared_statistics_batches(int workers) {
  return std::max(10, kStatisticsBatches / workers);
}

/// Re-estimates normalisation statistics on up to `batches` batches drawn from these training
/// examples, unaugmented. Nothing for models without any. Ends early, with fewer batches but at
/// least one, when `stop` is given and becomes true.
void estimate_statistics(Learner& learner, const Dataset& data, std::vector<std::uint32_t> examples,
                         int batches, std::uint64_t seed, const std::atomic<bool>* stop = nullptr);

struct TestResult {
  double accuracy = 0;  ///< a fraction
  double loss = 0;
};

/// Over the whole test set.
[[nodiscard]] TestResult test(Learner& learner, const Dataset& data);
/// The same; nothing where `stop` became true before the end.
[[nodiscard]] std::optional<TestResult> test(Learner& learner, const Dataset& data,
                                             const std::atomic<bool>& stop);

/// How good the model in `tensors` is: loads it, re-estimates its statistics, evaluates, and writes
/// the new statistics back into the tensors' bytes.
[[nodiscard]] double evaluate_model(std::span<const NamedTensor> tensors, Learner& learner,
                                    const Dataset& data, std::uint64_t seed);

}  // namespace fast
