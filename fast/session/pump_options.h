#pragma once

#include <cstdint>

#include "fast/adapter.h"
#include "fast/options/session_options.h"
#include "stencil/core/grid.h"
#include "stencil/core/layout.h"
#include "stencil/runtime/budget.h"
#include "stencil/runtime/pump.h"

namespace fast {

/// The largest payload that a run sends, in bytes.
[[nodiscard]] std::size_t largest_payload(const stencil::Layout& layout,
                                          const stencil::Carried& carried);

/// The parameters of a session's background work. `initial_hash` is the hash of the model's values
/// at the start of the run. `carried` must outlive the pump. `progress`: see Hello. `trained`: see
/// EngineConfig. `bounds`: of all queues. Throws ConfigError for options out of their range.
[[nodiscard]] stencil::PumpOptions make_pump_options(
    const SessionOptions& options, const stencil::Grid& grid, const stencil::Layout& layout,
    std::uint64_t initial_hash, ModelAdapter& adapter, stencil::Carried& carried,
    const stencil::Bounds& bounds, double progress = 0, bool trained = false,
    stencil::DataUsed used = {});

}  // namespace fast
