#include "stencil/core/topologies/sides.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "stencil/core/error.h"
#include "stencil/core/text.h"
#include "stencil/core/topologies/kinds.h"
#include "stencil/core/topology.h"

namespace stencil::internal {

void refuse(std::string_view spec, const std::string& cause) {
  throw ConfigError("topology " + in_quotes(spec) + ": " + cause,
                    "valid forms are " + topology_forms());
}

int parse_side(std::string_view text, std::string_view spec) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.front() == '0') {
    refuse(spec, in_quotes(text) + " is not a number of workers, 1 or more");
  }
  int side = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (status != std::errc() || side > Topology::kMaxSize) {
    refuse(spec, in_quotes(text) + " is over " + std::to_string(Topology::kMaxSize) + " workers");
  }
  return side;
}

std::vector<int> parse_sides(std::string_view text, std::string_view spec) {
  std::vector<int> sides;
  std::int64_t size = 1;
  while (true) {
    const auto length = text.find('x');
    sides.push_back(parse_side(text.substr(0, length), spec));
    size *= sides.back();
    if (sides.size() > 3) refuse(spec, "more than three sides");
    if (size > Topology::kMaxSize) {
      refuse(spec, "more than " + std::to_string(Topology::kMaxSize) + " workers");
    }
    if (length == std::string_view::npos) break;
    text.remove_prefix(length + 1);
  }
  if (sides.size() < 2) refuse(spec, "one side only, two or three are needed");
  return sides;
}

}  // namespace stencil::internal
