#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stencil/core/element_type.h"

namespace stencil {

/// Memory that follows what neighbours do to a part of the model, such as the momentum of a
/// parameter: where a fold moves x[begin + i] by d, values[i] changes by factor * d.
///
/// The owner is taken to add a vector g to the values in each of its steps,
///
///     values <- decay * values + g
///
/// and what folds add may turn the values, but never makes a block of them longer than the owner's
/// own vectors could: |values| <= sum over its steps of decay^k |g of k steps ago|. A change that
/// would is scaled with the block, to that length. So what neighbours do, however far they move the
/// model, cannot make the owner's next step longer than its own vectors make it.
struct Follower {
  /// What is known of one block of the values. Its bound is `own` or the block's present length,
  /// whichever is greater.
  ///
  /// g is never seen. But with v the length of the block after n more steps, and u its length
  /// before them, |v - decay^n u| <= sum of decay^k |g|, by the triangle inequality. So `own`,
  /// which is multiplied by `decay` at a step and grows by that, never exceeds the sum above.
  struct Block {
    float own = 0;           ///< a lower bound of the sum above, at `step`
    float length = 0;        ///< of the values, when a fold changed them last
    std::uint64_t step = 0;  ///< of the owner then
  };

  std::size_t begin = 0;                 ///< of x, in floats
  std::size_t size = 0;                  ///< floats of x, and elements of `values`
  ElementType type = ElementType::kF32;  ///< of `values`
  void* values = nullptr;                ///< the owner's; null: only `moved` is counted
  double factor = 0;
  double decay = 0;        ///< from 0 to 1
  std::uint64_t step = 0;  ///< of the owner
  std::size_t moved = 0;   ///< floats that folds have moved since the owner set this to 0
  std::vector<Block> blocks{};

  /// Nothing follows any more; what is known of the values is forgotten.
  void stop();
};

/// The followers of a model, one for a parameter at most. Owned by who trains the model, read in
/// folds. Training thread, and its team (stencil/mix/team.h) while it folds.
class Followers {
 public:
  /// The follower of `size` floats from `begin` on; a new one, without values, where there was
  /// none. Valid until of() makes another. Throws InvariantError where it would overlap one.
  Follower& of(std::size_t begin, std::size_t size);
  void clear() { sorted_.clear(); }

  /// Folds may be made by several threads, each in buckets of so many floats; blocks are then such
  /// that none lies in two buckets. Call it before there are followers.
  void cut_by(std::size_t bucket_floats);
  /// Floats of a block, which begins at a multiple of that; smaller at the ends of a follower.
  [[nodiscard]] std::size_t block_floats() const { return block_floats_; }

  /// Scales all factors, from 0 to 1; see stencil/runtime/likeness.h. A session sets it.
  double likeness = 1;

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  /// By `begin`: the first that has a float at `place` or behind it. Up to end().
  [[nodiscard]] std::vector<Follower>::iterator from(std::size_t place);
  [[nodiscard]] std::vector<Follower>::iterator end() { return sorted_.end(); }

 private:
  static constexpr std::size_t kMostBlockFloats = 1024;  ///< 4 KiB: of cache, with x and values

  std::size_t block_floats_ = kMostBlockFloats;
  std::vector<Follower> sorted_;  ///< by `begin`
};

}  // namespace stencil
