#pragma once

#include <cstddef>

#include "fast/adapter.h"
#include "fast/options/session_options.h"
#include "stencil/core/grid.h"
#include "stencil/core/layout.h"
#include "stencil/runtime/budget.h"
#include "stencil/runtime/carried.h"

namespace fast {

/// What ExchangeOptions::memory_budget comes to in one session. Bytes.
struct MemoryBudget {
  std::size_t allowed = 0;  ///< 0: there is none
  std::size_t copy = 0;     ///< of values that are not where the framework has them
  /// Kept for a checkpoint's copy of the state, where there is a budget.
  std::size_t checkpoint = 0;
  std::size_t beside = 0;  ///< SessionOptions::held_beside
  stencil::Bounds bounds;
};

/// The parts attached to `adapter` are asked for what they would save. Those that make their state
/// in the first step, as optimizers do, are given room for two numbers for each value. Throws
/// ConfigError for a budget that is too small.
[[nodiscard]] MemoryBudget make_memory_budget(const SessionOptions& options,
                                              const stencil::Grid& grid,
                                              const stencil::Layout& layout, ModelAdapter& adapter,
                                              const stencil::Carried& carried);

}  // namespace fast
