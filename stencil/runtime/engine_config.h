#pragma once

#include <cstdint>

#include "stencil/core/grid.h"
#include "stencil/core/layout.h"
#include "stencil/engine/config.h"
#include "stencil/runtime/exchange_options.h"

namespace stencil {

/// What the protocol of each worker takes from `grid`.
[[nodiscard]] GridFigures figures_of(const Grid& grid, const ExchangeOptions& options);

/// Derives the protocol parameters of worker `rank` from `options`, for sessions and for the
/// simulator alike. `buckets` includes the telemetry's. The caller fills in the Hello's topology,
/// life and hashes. Throws ConfigError for options out of their range.
[[nodiscard]] EngineConfig make_engine_config(const ExchangeOptions& options, const Grid& grid,
                                              Rank rank, std::uint32_t buckets);

/// How much longer than without a bound a reply is waited for where links carry `rate` bytes a
/// second (0: no bound), all of them together: what waits for the rate is not lost, and all that
/// may be under way has time to be sent, at both ends, before any of it is asked for anew.
[[nodiscard]] Duration wait_for_rate(const EngineConfig& config, const Layout& layout, double rate);

}  // namespace stencil
