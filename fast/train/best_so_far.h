#pragma once

#include <cstdint>
#include <optional>

#include "fast/train/evaluation_options.h"

namespace fast {

/// The best of a run's evaluations, one after the other, and how many there have been since. Value
/// type.
struct BestSoFar {
  Metric metric = Metric::kLoss;
  std::optional<double> value{};  ///< nothing yet
  std::uint64_t since = 0;        ///< evaluations that were no better, since the best

  /// Whether this is better than all before. A value that is not finite is none.
  bool judge(double value);
};

}  // namespace fast
