#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

#include "stencil/core/graph.h"

namespace stencil::internal {

namespace {

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

}  // namespace

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

Graph make_complete(int size) {
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
