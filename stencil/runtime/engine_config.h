#pragma once

#include <cstdint>

#include "stencil/core/topology.h"
#include "stencil/core/turns.h"
#include "stencil/engine/config.h"
#include "stencil/runtime/exchange_options.h"

namespace stencil {

/// What the protocol of worker `rank` goes by where `options` hold: the one derivation, for
/// sessions and for the simulator. `buckets` counts the telemetry's. The Hello's topology, life and
/// hashes are left to the caller. Throws ConfigError for options out of their range.
[[nodiscard]] EngineConfig make_engine_config(const ExchangeOptions& options,
                                              const Topology& topology, const Turns& turns,
                                              Rank rank, std::uint32_t buckets);

}  // namespace stencil
