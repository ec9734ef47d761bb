#pragma once

#include <cstdint>

#include "stencil/engine/self.h"

namespace stencil {

/// Mode bounded:K. A worker passes no boundary that is more than K steps ahead of a neighbour's,
/// nor K steps after the last sweep with it. Workers that begin together hold each other from their
/// first step on; one that joins later holds nobody before it trains. One thread.
class Bound {
 public:
  explicit Bound(const Self& self) : self_(self) {}

  struct Limit {
    std::uint64_t step = UINT64_MAX;
    Rank limited_by = kNoRank;
  };
  /// The highest step boundary that may be passed now, and the neighbours that hold it there.
  [[nodiscard]] Limit limit() const;
  /// Whether this worker may not pass its boundary because it lacks a sweep with this neighbour.
  [[nodiscard]] bool overdue(const Neighbour& neighbour) const;

 private:
  [[nodiscard]] bool applies() const {
    return self_.config.mode.kind == Mode::Kind::kBounded && self_.training();
  }
  [[nodiscard]] bool begins_with_us(const Neighbour& neighbour) const;
  const Self& self_;
};

}  // namespace stencil
