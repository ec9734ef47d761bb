#pragma once

#include <cstddef>
#include <vector>

#include "stencil/core/element_type.h"

namespace stencil {

/// Memory that follows what neighbours do to a part of the model, such as the momentum of a
/// parameter: where a fold moves x[begin + i] by d, values[i] changes by factor * d.
struct Follower {
  std::size_t begin = 0;                 ///< of x, in floats
  std::size_t size = 0;                  ///< floats of x, and elements of `values`
  ElementType type = ElementType::kF32;  ///< of `values`
  void* values = nullptr;                ///< the owner's; null: only `moved` is counted
  double factor = 0;
  std::size_t moved = 0;  ///< floats that folds have moved since the owner set this to 0
};

/// The followers of a model, one for a parameter at most. Owned by who trains the model, read in
/// folds. Training thread, and its team (stencil/mix/team.h) while it folds.
class Followers {
 public:
  /// The follower of `size` floats from `begin` on; a new one, without values, where there was
  /// none. Valid until of() makes another. Throws InvariantError where it would overlap one.
  Follower& of(std::size_t begin, std::size_t size);
  void clear() { sorted_.clear(); }

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  /// By `begin`: the first that has a float at `place` or behind it. Up to end().
  [[nodiscard]] std::vector<Follower>::iterator from(std::size_t place);
  [[nodiscard]] std::vector<Follower>::iterator end() { return sorted_.end(); }

 private:
  std::vector<Follower> sorted_;  ///< by `begin`
};

}  // namespace stencil
