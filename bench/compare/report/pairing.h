#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/compare/report/table.h"

namespace fast::compare {

/// A mean of differences and its standard error.
struct Difference {
  double mean = 0, error = 0;
};

/// The final results of a strategy compared with all-reduce, over all conditions of one kind of
/// time and one partition: differences to the first all-reduce of the same condition and seed that
/// has seen as many samples. Variation that both runs of a pair share (the seed's shards and
/// initial weights, the condition) cancels.
///
/// An all-reduce learns the same under conditions that change only time, so several pairs may share
/// one run. The standard error accounts for that: it is clustered by all-reduce runs (Liang and
/// Zeger 1986), Var(mean) = G / (G - 1) * sum over the G runs of (sum of its pairs' residuals)^2 /
/// n^2.
struct Pairing {
  std::string label;      ///< of its rows
  std::string partition;  ///< of the data: "iid", ..
  TimeKind time = TimeKind::kReal;
  int pairs = 0;
  Difference accuracy;  ///< of the mean model
  Difference worst;     ///< of the worst worker
  Difference held_out;  ///< of the mean model on the held-out examples
  Difference loss;      ///< over them
  struct Unseen {
    Difference accuracy, loss;
  };
  std::optional<Unseen> unseen = std::nullopt;  ///< of the mean model on the unseen examples
};

/// One for each label, partition and kind of time that has two all-reduce runs or more, in the
/// order of the rows.
[[nodiscard]] std::vector<Pairing> pairings(const std::vector<Group>& groups);

}  // namespace fast::compare
