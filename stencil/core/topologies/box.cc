#include "stencil/core/topologies/box.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "stencil/core/text.h"
#include "stencil/core/topologies/sides.h"

namespace stencil::internal {

namespace {

enum class Neighbourhood { kVonNeumann, kMoore };

/// All of {-1, 0, 1}^dimensions that the neighbourhood reaches, itself left out.
std::vector<std::vector<int>> offsets(std::size_t dimensions, Neighbourhood neighbourhood) {
  std::vector<std::vector<int>> result;
  std::vector<int> offset(dimensions, -1);
  while (true) {
    const auto moved = std::count_if(offset.begin(), offset.end(), [](int d) { return d != 0; });
    if (moved == 1 || (moved > 1 && neighbourhood == Neighbourhood::kMoore)) {
      result.push_back(offset);
    }
    std::size_t digit = 0;
    while (digit < dimensions && offset[digit] == 1) offset[digit++] = -1;
    if (digit == dimensions) return result;
    ++offset[digit];
  }
}

/// The rank at position + offset, or kNoRank beyond an open border.
Rank rank_at(const std::vector<int>& shape, const std::vector<int>& position,
             const std::vector<int>& offset, bool wraps) {
  Rank rank = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const int side = shape[axis];
    int coordinate = position[axis] + offset[axis];
    if (wraps) {
      coordinate = (coordinate + side) % side;
    } else if (coordinate < 0 || coordinate >= side) {
      return kNoRank;
    }
    rank = rank * side + coordinate;
  }
  return rank;
}

/// A box of 1 to 3 sides >= 1, closed (`wraps`) or with open borders.
Graph make_box(std::vector<int> shape, bool wraps, Neighbourhood neighbourhood) {
  const int size = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
  const auto reach = offsets(shape.size(), neighbourhood);

  std::vector<std::vector<Rank>> neighbours(static_cast<std::size_t>(size));
  std::vector<int> position(shape.size(), 0);
  std::vector<Rank> found;
  for (Rank rank = 0; rank < size; ++rank) {
    found.clear();
    for (const auto& offset : reach) {
      const Rank other = rank_at(shape, position, offset, wraps);
      if (other != kNoRank && other != rank) found.push_back(other);
    }
    // On a closed side of 2 both ways lead to the same worker, on one of 1 back to itself.
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    neighbours[static_cast<std::size_t>(rank)].assign(found.begin(), found.end());

    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis]) break;
      position[axis] = 0;
    }
  }
  return {std::move(shape), std::move(neighbours), true, wraps};
}

Graph parse_box(std::string_view text, bool wraps, std::string_view spec) {
  auto neighbourhood = Neighbourhood::kVonNeumann;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    if (text.substr(colon) != ":moore") {
      refuse(spec, "unknown neighbourhood " + in_quotes(text.substr(colon + 1)));
    }
    neighbourhood = Neighbourhood::kMoore;
    text = text.substr(0, colon);
  }
  return make_box(parse_sides(text, spec), wraps, neighbourhood);
}

}  // namespace

Graph make_ring(std::string_view arguments, std::string_view spec) {
  return make_box({parse_side(arguments, spec)}, true, Neighbourhood::kVonNeumann);
}

Graph make_torus(std::string_view arguments, std::string_view spec) {
  return parse_box(arguments, true, spec);
}

Graph make_grid(std::string_view arguments, std::string_view spec) {
  return parse_box(arguments, false, spec);
}

}  // namespace stencil::internal
