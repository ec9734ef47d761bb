#include "bench/compare/condition.h"

#include <fmt/format.h>

#include <charconv>
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
    (void)partition(std::vector<std::uint32_t>(16, 0), c.partition, 2, 0, 1);
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
  for (const Absence& one : c.away) {
    const bool frozen = one.kind == Absence::Kind::kFrozen;
    if (one.rank >= 0 && one.rank < workers && 0 <= one.from && one.from < one.to) continue;
    return Flaw{frozen ? "frozen" : "dead",
                fmt::format("{}:{}:{} names no worker and time", one.rank, one.from, one.to),
                fmt::format("ranks 0 to {}, seconds from 0, in their order", workers - 1)};
  }
  return std::nullopt;
}

std::optional<Absence> parse_absence(Absence::Kind kind, std::string_view text) {
  Absence out{.kind = kind};
  const char* const end = text.data() + text.size();
  const auto read = [end](const char* at, auto& value, bool last) -> const char* {
    const auto [next, bad] = std::from_chars(at, end, value);
    if (bad != std::errc() || (last ? next != end : next == end || *next != ':')) return nullptr;
    return last ? next : next + 1;
  };
  const char* at = read(text.data(), out.rank, false);
  if (at != nullptr) at = read(at, out.from, false);
  if (at != nullptr) at = read(at, out.to, true);
  return at == nullptr ? std::nullopt : std::optional(out);
}

}  // namespace fast::compare
