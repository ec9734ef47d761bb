#pragma once

#include <algorithm>
#include <cstdint>

#include "stencil/core/types.h"

namespace stencil {

/// A worker's steps, as seen from here.
struct Steps {
  std::uint64_t count = 0;  ///< boundaries passed
  TimePoint last{};         ///< when we learned of the last one, or of the worker's beginning
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
  /// The length of the step in progress, as far as is known: as that of those before it, or longer
  /// where it has taken longer already.
  [[nodiscard]] Duration present(TimePoint now) const { return std::max(every, now - last); }
};

/// How like the present steps of two workers are in length: 1 where the longer is at most twice the
/// shorter, otherwise twice the shorter over the longer.
[[nodiscard]] inline double likeness(const Steps& a, const Steps& b, TimePoint now) {
  constexpr double kAlike = 2;
  const Duration of_a = a.present(now), of_b = b.present(now);
  // A step whose length is not known yet may be as long as the other.
  const bool a_may_be = a.every.count() == 0 && of_a < of_b;
  const bool b_may_be = b.every.count() == 0 && of_b < of_a;
  if (a_may_be || b_may_be || of_a == of_b) return 1;
  const auto [shorter, longer] = std::minmax(of_a, of_b);
  return std::min(
      1.0, kAlike * static_cast<double>(shorter.count()) / static_cast<double>(longer.count()));
}

/// Whether both are known and the longer exceeds the shorter by at most `share` of it.
[[nodiscard]] inline bool alike(Duration a, Duration b, double share) {
  const auto at_most = [share](Duration longer, Duration shorter) {
    const auto length = static_cast<double>(shorter.count());
    return static_cast<double>(longer.count()) <= (1 + share) * length;
  };
  return a.count() > 0 && b.count() > 0 && at_most(a, b) && at_most(b, a);
}

}  // namespace stencil
