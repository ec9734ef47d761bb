#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stencil/core/topology.h"

namespace stencil {

/// The turns in which neighbours meet in pairs: a proper colouring of a topology's edges. In each
/// turn whoever has a partner is that one's partner, and over all turns every neighbour comes once.
/// As many as the largest degree where the graph is bipartite (Koenig 1916; grids and tori of even
/// sides are), mostly one or two more elsewhere. The same wherever it is made.
///
/// Edge by edge: a colour that is free at both ends; where there is none, one that is free at the
/// first end is made free at the other too, by changing colours along the path of two colours that
/// begins there (Kempe's chain). Where that path leads back to the first end it is a colour more.
///
/// Immutable value; copies share one table.
class Turns {
 public:
  Turns() = default;  ///< of nobody
  explicit Turns(const Topology& topology);

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Whom `rank` meets in each turn; kNoRank where nobody.
  [[nodiscard]] std::span<const Rank> of(Rank rank) const {
    return {partners_->data() + static_cast<std::size_t>(rank) * count_, count_};
  }
  [[nodiscard]] bool empty() const { return partners_ == nullptr; }

 private:
  std::size_t count_ = 0;
  std::shared_ptr<const std::vector<Rank>> partners_;  ///< by rank and turn
};

}  // namespace stencil
