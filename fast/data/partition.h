#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fast {

/// Which examples belong to worker `rank` of `workers`:
///   iid              shuffled, dealt out evenly
///   dirichlet:ALPHA  per class, shares drawn from Dirichlet(ALPHA) (Hsu et al. 2019)
///   by-label         sorted by label, contiguous pieces
///   own              everything here: this device's folder is its shard
/// Shards of one (seed, workers) are disjoint, cover everything and repeat on every machine; none
/// is empty. Throws ConfigError, and DataError for fewer examples than workers (but of own).
[[nodiscard]] std::vector<std::uint32_t> partition(std::span<const std::uint8_t> labels,
                                                   std::string_view spec, int workers, int rank,
                                                   std::uint64_t seed);

}  // namespace fast
