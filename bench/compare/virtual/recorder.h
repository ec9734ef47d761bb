#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bench/compare/evaluator.h"
#include "bench/compare/virtual/virtual_workers.h"

namespace fast::compare {

/// Notes each step, and evaluates the mean model whenever the next mark of the budget is reached.
class Recorder {
 public:
  /// Calls `shown(share)` with the progress; it may be empty.
  Recorder(const Cell& cell, const Split& split, std::function<void(double)> shown);

  struct Moment {
    double samples = 0, seconds = 0, bytes = 0;
  };
  /// Whether at() would evaluate.
  [[nodiscard]] bool due(double samples, std::uint64_t budget) const;
  /// `weights()` returns the present models; it is called only at marks.
  void at(const Moment& moment, std::uint64_t budget,
          const std::function<std::vector<std::span<const float>>()>& weights);

  /// After training: evaluates the mean and each worker's own model. `seconds` is the training
  /// time.
  [[nodiscard]] CellResult finish(VirtualWorkers& workers,
                                  const std::vector<std::span<const float>>& models,
                                  const Moment& moment);
  [[nodiscard]] static CellResult diverged(const Moment& moment);

 private:
  const Cell& cell_;
  Evaluator evaluator_;
  std::function<void(double)> shown_;
  std::vector<CurvePoint> curve_;
};

}  // namespace fast::compare
