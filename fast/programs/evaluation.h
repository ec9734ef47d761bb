#pragma once

#include <span>

#include "fast/adapter.h"
#include "fast/config.h"
#include "fast/data/dataset.h"
#include "fast/learner.h"

namespace fast {

/// Copies saved tensors into a model, by name. Throws FileError, naming the tensor, where the two
/// do not match in names, types or sizes.
void load_state(std::span<const NamedTensor> from, ModelAdapter& model);

/// Re-estimates normalisation statistics on up to `batches` batches of the training data, drawn
/// evenly from all of it and unaugmented. Nothing for models without any.
void estimate_statistics(Learner& learner, const Dataset& data, int batches, std::uint64_t seed);

/// Accuracy on the test set, a fraction.
[[nodiscard]] double test_accuracy(Learner& learner, const Dataset& data);

/// How good the model in `tensors` is: loads it, re-estimates its statistics, evaluates, and writes
/// the new statistics back into the tensors' bytes.
[[nodiscard]] double evaluate_model(std::span<const NamedTensor> tensors, Learner& learner,
                                    const Dataset& data, std::uint64_t seed);

}  // namespace fast
