#include "stencil/core/followers.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {

void Follower::stop() {
  values = nullptr;
  factor = 0;
  moved = 0;
  std::ranges::fill(blocks, Block{});
}

void Followers::cut_by(std::size_t bucket_floats) {
  block_floats_ = std::gcd(kMostBlockFloats, bucket_floats);
}

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
  Follower made{.begin = begin, .size = size};
  if (size > 0) {
    made.blocks.resize((begin + size - 1) / block_floats_ - begin / block_floats_ + 1);
  }
  return *sorted_.insert(next, std::move(made));
}

}  // namespace stencil
