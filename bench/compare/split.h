#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "adapters/torch/models/torch_learner.h"
#include "bench/compare/cell.h"
#include "fast/data/dataset.h"

namespace fast::compare {

/// A cell's data: the training examples, the held-out examples for curves and tuning, and the test
/// set, which is read once, at the end.
struct Split {
  ExampleSpec examples;
  Dataset training;    ///< .train: what is trained on; .test: what the end is judged on
  Dataset validation;  ///< .test: the held-out examples; .train: a part of training.train
  Dataset unseen;      ///< .test: those of Job::unseen; .train: empty
};

/// The paths of data sets on this machine; a cell says only "cifar10".
struct DataPlaces {
  std::string cifar10;
};

/// "cifar10:DIR", or the name itself. Throws ConfigError where the place is not known.
[[nodiscard]] std::string data_spec(const Job& job, const DataPlaces& places);

/// Loads and divides the data: the first `examples` of the training set in an order drawn once for
/// all seeds; of these, `validation` are held out; the next `unseen` are used only at the end.
/// Throws ConfigError, DataError.
[[nodiscard]] Split load_split(const Cell& cell, const DataPlaces& places);

/// The cell's model with its initial weights and its optimizer. For a stand-in cell, a model that
/// waits, with the step times of `rank`.
[[nodiscard]] std::unique_ptr<TorchLearner> make_learner(const Cell& cell,
                                                         const ExampleSpec& examples, int threads,
                                                         int rank = 0);

}  // namespace fast::compare
