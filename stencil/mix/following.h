#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "stencil/core/followers.h"
#include "stencil/mix/blocks.h"

namespace stencil {

/// `follower` follows a move of x from `place` on: `before` and `after` it, `n` floats of the
/// follower's block number `block`; its factor is scaled by `likeness`. Several threads may call it
/// for other blocks.
void follow(Follower& follower, double likeness, std::size_t block, std::size_t place,
            const float* before, const float* after, std::size_t n);

/// Calls change(begin, n) for all of x[begin] .. x[begin + size - 1], piece by piece, which changes
/// these floats, and has `followers` follow (null: none), but for the part `aside` of the change,
/// which has a float for each of x (null: none). A follower costs the pass over its own values; x
/// is still in cache.
template <typename Change>
void change_followed(Followers* followers, std::span<const float> x, std::size_t begin,
                     std::size_t size, Change change, const float* aside = nullptr) {
  if (followers == nullptr || followers->empty()) return change(begin, size);
  const std::size_t end = begin + size;
  const std::size_t block = followers->block_floats();
  auto next = followers->from(begin);
  while (begin < end) {
    const bool within = next != followers->end() && next->begin <= begin;
    std::size_t until = end;
    if (next != followers->end()) {
      until = std::min(end, within ? next->begin + next->size : next->begin);
    }
    if (!within) {
      change(begin, until - begin);
      begin = until;
      continue;
    }
    while (begin < until) {
      const std::size_t n = std::min(until, (begin / block + 1) * block) - begin;
      Block before;
      std::copy_n(&x[begin], n, before.data());
      change(begin, n);
      if (aside != nullptr) kernels::add(&aside[begin], before.data(), n);
      follow(*next, followers->likeness, begin / block - next->begin / block, begin, before.data(),
             &x[begin], n);
      begin += n;
    }
    ++next;
  }
}

}  // namespace stencil
