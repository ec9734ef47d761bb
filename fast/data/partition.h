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
///   own              all local examples: each device's folder is its shard
/// Shards of one (seed, workers) are disjoint, cover all examples and are the same on every
/// machine; none is empty. Throws ConfigError, and DataError for fewer examples than workers
/// (except for own).
[[nodiscard]] std::vector<std::uint32_t> partition(std::span<const std::uint32_t> labels,
                                                   std::string_view spec, int workers, int rank,
                                                   std::uint64_t seed);

}  // namespace fast
