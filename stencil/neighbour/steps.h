#pragma once

#include <cstdint>

#include "stencil/core/types.h"

namespace stencil {

/// A worker's steps, as seen from here.
struct Steps {
  std::uint64_t count = 0;  ///< boundaries passed
  TimePoint last{};         ///< when we learned of the last one
  Duration every{};         ///< between two of them, decayed mean; 0: not known

  /// The worker has passed the boundary of step `newest`. The first message of a life tells nothing
  /// about the length of its steps.
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

/// Whether both are known and the longer exceeds the shorter by at most `share` of it.
[[nodiscard]] inline bool alike(Duration a, Duration b, double share) {
  const auto at_most = [share](Duration longer, Duration shorter) {
    const auto length = static_cast<double>(shorter.count());
    return static_cast<double>(longer.count()) <= (1 + share) * length;
  };
  return a.count() > 0 && b.count() > 0 && at_most(a, b) && at_most(b, a);
}

}  // namespace stencil
