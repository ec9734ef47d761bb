#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stencil/core/topology.h"

namespace stencil {

/// The turns in which neighbours meet in pairs: a proper colouring of a topology's edges. In each
/// turn a worker has at most one partner and is that partner's partner. Over all turns each
/// neighbour comes once. The number of turns is the largest degree where the graph is bipartite
/// (Koenig 1916; grids and tori of even sides are), and mostly one or two more elsewhere. Every
/// machine computes the same turns.
///
/// Each edge takes a colour that is free at both ends. Where there is none, a colour that is free
/// at the first end is freed at the other end too, by swapping two colours along the path that
/// begins there (a Kempe chain). Where that path leads back to the first end, the edge takes a new
/// colour.
///
/// Immutable value; copies share one table.
class Turns {
 public:
  Turns() = default;  ///< of nobody
  explicit Turns(const Topology& topology);

  [[nodiscard]] std::size_t count() const { return count_; }
  /// The partner of `rank` in each turn; kNoRank where it has none.
  [[nodiscard]] std::span<const Rank> of(Rank rank) const {
    return {partners_->data() + static_cast<std::size_t>(rank) * count_, count_};
  }
  [[nodiscard]] bool empty() const { return partners_ == nullptr; }

 private:
  std::size_t count_ = 0;
  std::shared_ptr<const std::vector<Rank>> partners_;  ///< by rank and turn
};

}  // namespace stencil
