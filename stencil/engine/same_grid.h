#pragma once

#include "stencil/engine/self.h"

namespace stencil {

/// Whether neighbours have made the changes of the grid that this worker has. Invariants:
///
///  1. Nobody tells of a grid that is as its topology makes it, except to a neighbour that tells of
///     its own: a run whose grid stays as it is sends not a byte more.
///  2. Changes reach workers at different times. A difference is counted and told once, when it has
///     lasted for kPatience; and again only when both have been alike in between.
///
/// One thread.
class SameGrid {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(30);

  explicit SameGrid(Self& self) : self_(self) {}

  void heard(TimePoint now, Neighbour& neighbour, const Heartbeat& heartbeat, Actions& out);
  /// This worker's grid is another now.
  void changed(TimePoint now);

 private:
  void compare(TimePoint now, Neighbour& neighbour) const;

  Self& self_;
};

}  // namespace stencil
