#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stencil/core/layout.h"

namespace stencil {

/// The step under way, as far as it has been made. Gradients are there from the last layer to the
/// first, so a step can be made part by part while the backward pass goes on (as an all-reduce of
/// gradients sends them: Li et al. 2020, "PyTorch Distributed"), and sweeps need not wait for the
/// boundary: what they brought by then need not be waited for there (see Linger). Neighbours in
/// step that have not made a part yet answer when they have (see TurnKeeper).
///
/// Not thread-safe.
class MadeParts {
 public:
  explicit MadeParts(const Layout& layout)
      : bucket_floats_(layout.bucket_floats()),
        count_(static_cast<std::uint32_t>(layout.bucket_count())) {}

  struct Buckets {
    std::uint32_t from = 0, to = 0;  ///< `to` is past the last
  };
  /// All values from `first` on have made this step. Returns the buckets that sweeps of this step
  /// may bring now and could not before, to fold and to tell of; nothing where there are none.
  std::optional<Buckets> made_from(std::size_t first);
  /// What made_from(first) would return, without its being so.
  [[nodiscard]] std::optional<Buckets> would_be_made(std::size_t first) const;
  /// The step is over, all of it made.
  void boundary() { told_ = count_; }

 private:
  std::size_t bucket_floats_;
  std::uint32_t count_;
  std::uint32_t told_ = count_;  ///< of the buckets from there on
};

}  // namespace stencil
