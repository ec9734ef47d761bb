#include "stencil/core/followers.h"

#include <algorithm>
#include <string>

#include "stencil/core/error.h"

namespace stencil {

std::vector<Follower>::iterator Followers::from(std::size_t place) {
  return std::ranges::partition_point(
      sorted_, [place](const Follower& one) { return one.begin + one.size <= place; });
}

Follower& Followers::of(std::size_t begin, std::size_t size) {
  const auto next = from(begin);
  if (next != end() && next->begin == begin && next->size == size) return *next;
  if (next != end() && next->begin < begin + size) {
    throw InvariantError("Followers: " + std::to_string(size) + " floats from " +
                         std::to_string(begin) + " on overlap those from " +
                         std::to_string(next->begin) + " on");
  }
  return *sorted_.insert(next, {.begin = begin, .size = size});
}

}  // namespace stencil
