#pragma once

#include <string>
#include <vector>

#include "bench/compare/report/table.h"

namespace fast::compare {

/// How a strategy ends beside all-reduce, all conditions together: differences to the first
/// all-reduce of the same condition and seed that has seen as many samples. Chance that both ends
/// of a pair share (the seed's shards and initial weights, the condition) is gone from them.
struct Pairing {
  std::string label;  ///< of its rows
  Spread accuracy;    ///< of the mean model
  Spread worst;       ///< of the worst worker
  Spread loss;        ///< over the held-out examples
};

/// Of every label with two pairs or more, in the order of the rows.
[[nodiscard]] std::vector<Pairing> pairings(const std::vector<Group>& groups);

/// Of a mean.
[[nodiscard]] double standard_error(const Spread& spread);

}  // namespace fast::compare
