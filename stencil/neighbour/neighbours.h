#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// Where a neighbour stands; what is known of an edge before anybody has spoken.
struct Place {
  static constexpr std::size_t kNoTurn = SIZE_MAX;
  Rank rank = kNoRank;
  /// In which turn (see Turns) both ends of the edge meet; both must say the same.
  std::size_t turn = kNoTurn;
  double weight = 0;  ///< in lock step, see MixingWeights
};

/// The neighbours that a worker has now: the one list of them. Found in O(1), walked in the order
/// of ranks. A Neighbour keeps its address until it is removed. Background thread.
class Neighbours {
 public:
  /// `turns` of a step, for now; a turn beyond them is one more.
  explicit Neighbours(std::size_t turns = 0) : in_turn_(turns) {}

  /// `place.rank` is none of these yet, and its turn is free. Throws InvariantError.
  Neighbour& add(const Place& place);
  void remove(Rank rank);

  [[nodiscard]] Neighbour* find(Rank rank) const;
  /// One that is there.
  [[nodiscard]] Neighbour& at(Rank rank) const;
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] bool empty() const { return list_.empty(); }

  /// Whom this worker meets in `turn`, from 0; null where nobody.
  [[nodiscard]] Neighbour* in_turn(std::size_t turn) const { return in_turn_[turn]; }
  [[nodiscard]] std::size_t turns() const { return in_turn_.size(); }

  class Iterator {
   public:
    using Inner = std::vector<std::unique_ptr<Neighbour>>::const_iterator;
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Neighbour;
    using pointer = Neighbour*;
    using reference = Neighbour&;
    Iterator() = default;
    explicit Iterator(Inner inner) : inner_(inner) {}
    Neighbour& operator*() const { return **inner_; }
    Neighbour* operator->() const { return inner_->get(); }
    Iterator& operator++() {
      ++inner_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(inner_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Inner inner_{};
  };
  [[nodiscard]] Iterator begin() const { return Iterator(list_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(list_.end()); }

 private:
  std::vector<std::unique_ptr<Neighbour>> list_;  ///< by rank
  std::unordered_map<Rank, Neighbour*> by_rank_;
  std::vector<Neighbour*> in_turn_;
};

}  // namespace stencil
