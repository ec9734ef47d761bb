#include "bench/compare/condition.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "fast/data/partition.h"
#include "fast/errors.h"
#include "stencil/core/topology.h"

namespace fast::compare {
namespace {

constexpr double kMostSlow = 1e6;

}  // namespace

std::optional<Flaw> flaw_of(const Condition& c) {
  int workers = 0;
  try {
    workers = stencil::Topology::parse(c.topology).size();
  } catch (const ConfigError& error) {
    return Flaw{"topology", error.what(), "correct the value"};
  }
  try {
    (void)partition(std::vector<std::uint8_t>(16, 0), c.partition, 2, 0, 1);
  } catch (const ConfigError& error) {
    return Flaw{"partition", error.what(), "correct the value"};
  }
  if (!(c.jitter >= 0)) {
    return Flaw{"jitter", fmt::format("{} is negative", c.jitter), "use 0 or more"};
  }
  if (!(c.link_mbit >= 0)) {
    return Flaw{"link_mbit", fmt::format("{} is negative", c.link_mbit),
                "use 0 (no limit) or more"};
  }
  for (const auto& [rank, factor] : c.slow) {
    if (rank >= 0 && rank < workers && factor >= 1 && factor <= kMostSlow) continue;
    return Flaw{"slow", fmt::format("{}:{} names no worker and factor", rank, factor),
                fmt::format("ranks 0 to {}, factors from 1", workers - 1)};
  }
  return std::nullopt;
}

}  // namespace fast::compare
