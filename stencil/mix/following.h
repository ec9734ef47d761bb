#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "stencil/core/followers.h"
#include "stencil/mix/blocks.h"

namespace stencil {

/// `follower` follows a move of x from `place` on: `before` and `after` it, `n` floats. Several
/// threads may call it for other places.
void follow(Follower& follower, std::size_t place, const float* before, const float* after,
            std::size_t n);

/// Calls change(begin, n) for all of x[begin] .. x[begin + size - 1], piece by piece, which changes
/// these floats, and has `followers` follow (null: none). A follower costs the pass over its own
/// values; x is still in cache.
template <typename Change>
void change_followed(Followers* followers, std::span<const float> x, std::size_t begin,
                     std::size_t size, Change change) {
  if (followers == nullptr || followers->empty()) return change(begin, size);
  const std::size_t end = begin + size;
  auto next = followers->from(begin);
  while (begin < end) {
    const bool within = next != followers->end() && next->begin <= begin;
    std::size_t until = end;
    if (next != followers->end()) {
      until = std::min(end, within ? next->begin + next->size : next->begin);
    }
    if (!within) {
      change(begin, until - begin);
    } else {
      for_blocks(until - begin, [&](std::size_t at, std::size_t n) {
        Block before;
        std::copy_n(&x[begin + at], n, before.data());
        change(begin + at, n);
        follow(*next, begin + at, before.data(), &x[begin + at], n);
      });
      ++next;
    }
    begin = until;
  }
}

}  // namespace stencil
