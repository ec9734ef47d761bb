#include "stencil/core/topologies/complete.h"

#include <cstdint>
#include <string>
#include <utility>

#include "stencil/core/topologies/sides.h"

namespace stencil::internal {

Graph make_complete(std::string_view arguments, std::string_view spec) {
  const int size = parse_side(arguments, spec);
  if (std::int64_t{size} * (size - 1) / 2 > kMaxEdges) {
    refuse(spec, "more than " + std::to_string(kMaxEdges) + " edges");
  }
  std::vector<std::vector<Rank>> neighbours(static_cast<std::size_t>(size));
  for (Rank rank = 0; rank < size; ++rank) {
    auto& list = neighbours[static_cast<std::size_t>(rank)];
    list.reserve(static_cast<std::size_t>(size) - 1);
    for (Rank other = 0; other < size; ++other) {
      if (other != rank) list.push_back(other);
    }
  }
  return {{size}, std::move(neighbours), false, false};
}

}  // namespace stencil::internal
