#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "stencil/core/place.h"
#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// The only list of the neighbours that a worker has now. Lookup is O(1); iteration goes in the
/// order of ranks. A Neighbour keeps its address until it is removed. A const list gives const
/// neighbours. Background thread.
class Neighbours {
 public:
  /// Begins with `turns` turns. add() extends them for a turn beyond, until set_turns() tells.
  explicit Neighbours(std::size_t turns = 0) : in_turn_(turns) {}

  /// Requires that `place.rank` is not in the list yet and that its turn is free; throws
  /// InvariantError otherwise.
  Neighbour& add(const Place& place);
  void remove(Rank rank);
  /// A step has so many turns, or as many as are in use.
  void set_turns(std::size_t turns);
  /// This worker meets `neighbour` in no turn any more, and another may take it.
  void free_turn(const Neighbour& neighbour);

  [[nodiscard]] Neighbour* find(Rank rank);
  [[nodiscard]] const Neighbour* find(Rank rank) const;
  /// Throws InvariantError where `rank` is not in the list.
  [[nodiscard]] Neighbour& at(Rank rank);
  [[nodiscard]] const Neighbour& at(Rank rank) const;
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] bool empty() const { return list_.empty(); }

  [[nodiscard]] std::vector<Place> places() const;

  /// The partner of this worker in `turn`, from 0; null where it has none.
  [[nodiscard]] Neighbour* in_turn(std::size_t turn) { return in_turn_[turn]; }
  [[nodiscard]] const Neighbour* in_turn(std::size_t turn) const { return in_turn_[turn]; }
  [[nodiscard]] std::size_t turns() const { return in_turn_.size(); }

  template <typename Of>
  class Iterator {
   public:
    using Inner = std::vector<std::unique_ptr<Neighbour>>::const_iterator;
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Neighbour;
    using pointer = Of*;
    using reference = Of&;
    Iterator() = default;
    explicit Iterator(Inner inner) : inner_(inner) {}
    Of& operator*() const { return **inner_; }
    Of* operator->() const { return inner_->get(); }
    Iterator& operator++() {
      ++inner_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(inner_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Inner inner_{};
  };
  [[nodiscard]] auto begin() { return Iterator<Neighbour>(list_.begin()); }
  [[nodiscard]] auto end() { return Iterator<Neighbour>(list_.end()); }
  [[nodiscard]] auto begin() const { return Iterator<const Neighbour>(list_.begin()); }
  [[nodiscard]] auto end() const { return Iterator<const Neighbour>(list_.end()); }

 private:
  std::vector<std::unique_ptr<Neighbour>> list_;  ///< by rank
  std::unordered_map<Rank, Neighbour*> by_rank_;
  std::vector<Neighbour*> in_turn_;
};

}  // namespace stencil
