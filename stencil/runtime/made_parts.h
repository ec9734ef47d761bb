#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stencil/core/layout.h"

namespace stencil {

/// The parts of the model that already hold the step in progress. The backward pass yields
/// gradients from the last layer to the first, so the step can be taken part by part during it (as
/// an all-reduce of gradients sends them: Li et al. 2020, "PyTorch Distributed"). Sweeps then begin
/// before the boundary, which has less to wait for (see Linger). Neighbours in step whose part is
/// not ready yet answer when it is (see TurnKeeper).
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
  /// All values from `first` on hold this step. Returns the buckets that sweeps of this step may
  /// newly bring, which the caller folds and then tells the engine; nothing where there are none.
  std::optional<Buckets> made_from(std::size_t first);
  /// What made_from(first) would return; changes nothing.
  [[nodiscard]] std::optional<Buckets> would_be_made(std::size_t first) const;
  /// The step is complete in the whole model.
  void boundary() { told_ = count_; }

 private:
  std::size_t bucket_floats_;
  std::uint32_t count_;
  std::uint32_t told_ = count_;  ///< the buckets from here on have been returned
};

}  // namespace stencil
