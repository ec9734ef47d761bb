#pragma once

#include <cstdint>

#include "stencil/core/types.h"

namespace stencil {

/// A worker's steps, as its boundaries are heard of.
struct Steps {
  std::uint64_t count = 0;  ///< boundaries passed
  TimePoint last{};         ///< when the last one was heard of
  Duration every{};         ///< between two of them, decayed mean; 0: not known

  /// They say that they have passed the boundary of `newest`. A first word, or that of a new life,
  /// says nothing of how long its steps take.
  void note(TimePoint now, std::uint64_t newest) {
    if (newest == count) return;
    if (newest < count || count == 0) {
      every = {};
    } else {
      const Duration one = (now - last) / (newest - count);
      every = every.count() == 0 ? one : every + (one - every) / 16;
    }
    count = newest;
    last = now;
  }
};

/// Both are known, and neither is longer than the other by more than this share of it.
[[nodiscard]] inline bool alike(Duration a, Duration b, double share) {
  const auto at_most = [share](Duration longer, Duration shorter) {
    const auto length = static_cast<double>(shorter.count());
    return static_cast<double>(longer.count()) <= (1 + share) * length;
  };
  return a.count() > 0 && b.count() > 0 && at_most(a, b) && at_most(b, a);
}

}  // namespace stencil
