#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stencil/core/layout.h"

namespace stencil {

/// How the sweeps of a boundary came.
struct Came {
  bool in_time = false;  ///< all, within half of what they were given
  bool quickly = false;  ///< over links on which all would have, if nobody had been late
};

/// The step under way, as far as it has been made. Gradients are there from the last layer to the
/// first, so a step can be made part by part while the backward pass goes on (as an all-reduce of
/// gradients sends them: Li et al. 2020, "PyTorch Distributed"), and sweeps need not wait for the
/// boundary: what they brought by then need not be waited for there (see Linger).
///
/// Told late, as late as leaves time for the sweeps: neighbours in step make the same part at about
/// the same time, and a sweep that begins before theirs is made brings their last step and not this
/// one. By how many eighths of the model follows from the boundaries: one less after each whose
/// sweeps had not come in good time, one more after some that had. Over quick links that is all of
/// them, and sweeps begin at the boundary, where turns are kept; what is late there waits for
/// somebody, and would not come sooner.
///
/// Not thread-safe.
class MadeParts {
 public:
  explicit MadeParts(const Layout& layout)
      : bucket_floats_(layout.bucket_floats()), count_(buckets(layout)) {}

  struct Buckets {
    std::uint32_t from = 0, to = 0;  ///< `to` is past the last
  };
  /// All values from `first` on have made this step. Returns the buckets that sweeps of this step
  /// may bring now and could not before, to fold and to tell of; nothing where there are none.
  std::optional<Buckets> made_from(std::size_t first);
  /// The step is over, all of it made; so did its sweeps come.
  void boundary(Came came);
  /// Eighths of the model that are made before they are told of.
  [[nodiscard]] std::uint32_t late() const { return late_; }

 private:
  static constexpr std::uint32_t kLatest = 8;
  static std::uint32_t buckets(const Layout& layout) {
    return static_cast<std::uint32_t>(layout.bucket_count());
  }

  std::size_t bucket_floats_;
  std::uint32_t count_;
  std::uint32_t told_ = count_;  ///< of the buckets from there on
  std::uint32_t late_ = kLatest;
  int in_time_ = 0, slow_ = 0;  ///< boundaries in a row
};

}  // namespace stencil
