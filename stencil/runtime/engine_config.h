#pragma once

#include <cstdint>

#include "stencil/core/grid.h"
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

}  // namespace stencil
