#pragma once

#include "bench/compare/virtual/timing.h"
#include "bench/compare/virtual/virtual_workers.h"

namespace fast::compare {

/// A strategy in which every worker makes step k before any makes step k + 1, or which does not
/// depend on when they do: single, local, allreduce, parameter-server-sync, stencil-sync. What it
/// learns depends on samples alone; time is added by a RoundClock.
class RoundStrategy {
 public:
  virtual ~RoundStrategy() = default;
  /// One step of every worker, the `last` one or not. False where a loss is not finite.
  virtual bool round(double progress, bool last) = 0;
  [[nodiscard]] virtual VirtualWorkers& workers() = 0;
};

/// Nothing where the cell's strategy does not go by rounds.
[[nodiscard]] std::unique_ptr<RoundStrategy> make_round_strategy(const Cell& cell,
                                                                 const Split& split);

/// True for the strategies above.
[[nodiscard]] bool goes_by_rounds(const Strategy& strategy);

}  // namespace fast::compare
