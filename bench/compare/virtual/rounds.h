#pragma once

#include "bench/compare/virtual/timing.h"
#include "bench/compare/virtual/virtual_workers.h"

namespace fast::compare {

/// A strategy in which every worker takes step k before any takes step k + 1, or whose result does
/// not depend on that order: single, local, allreduce, parameter-server-sync, stencil-sync. What it
/// learns depends only on samples; a RoundClock adds the time.
class RoundStrategy {
 public:
  virtual ~RoundStrategy() = default;
  /// Takes one step of every worker; `last` marks the last one. Returns false where a loss is not
  /// finite.
  virtual bool round(double progress, bool last) = 0;
  [[nodiscard]] virtual VirtualWorkers& workers() = 0;
};

/// Null where the cell's strategy does not go by rounds.
[[nodiscard]] std::unique_ptr<RoundStrategy> make_round_strategy(const Cell& cell,
                                                                 const Split& split);

/// Whether it is one of the strategies above.
[[nodiscard]] bool goes_by_rounds(const Strategy& strategy);

}  // namespace fast::compare
