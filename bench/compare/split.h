#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "adapters/torch/models/torch_learner.h"
#include "bench/compare/cell.h"
#include "fast/data/dataset.h"

namespace fast::compare {

/// A cell's data: what is trained on, what curves (and tuning) are judged on, and the test set,
/// which is read once, at the end.
struct Split {
  Dataset training;    ///< .train: what is trained on; .test: what the end is judged on
  Dataset validation;  ///< .test: the held-out examples; .train: a part of training.train
  Dataset unseen;      ///< .test: those of Job::unseen; .train: empty
};

/// Where data sets lie on this machine: a cell itself says only "cifar10".
struct DataPlaces {
  std::string cifar10;
};

/// "cifar10:DIR", or the name itself. Throws ConfigError where the place is not known.
[[nodiscard]] std::string data_spec(const Job& job, const DataPlaces& places);

/// Loads and cuts: the first `examples` of the training set in an order drawn once, for all seeds
/// alike; of these, `validation` are held out; the next `unseen` are not used but at the end.
/// Throws ConfigError, DataError.
[[nodiscard]] Split load_split(const Cell& cell, const DataPlaces& places);

/// The cell's model with its initial weights and its optimizer; what stands in for it where the
/// cell's computing is only waited for: then `rank` says whose step times it has.
[[nodiscard]] std::unique_ptr<TorchLearner> make_learner(const Cell& cell, const ImageShape& shape,
                                                         int threads, int rank = 0);

}  // namespace fast::compare
