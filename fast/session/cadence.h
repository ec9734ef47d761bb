#pragma once

#include "stencil/core/types.h"

namespace fast {

/// Limits how often a changing state is shown, but never leaves its last change unshown. One
/// thread.
class Cadence {
 public:
  explicit Cadence(stencil::Duration every) : every_(every) {}

  /// The state may have changed: returns whether to show it now. `at_once`: yes, since somebody
  /// waits for it.
  [[nodiscard]] bool due(stencil::TimePoint now, bool at_once = false) {
    held_back_ = !at_once && now < shown_ + every_;
    if (!held_back_) shown_ = now;
    return !held_back_;
  }
  /// When to ask again at the latest, for a change that was held back.
  [[nodiscard]] stencil::TimePoint next() const {
    return held_back_ ? shown_ + every_ : stencil::kNever;
  }

 private:
  stencil::Duration every_;
  stencil::TimePoint shown_{};
  bool held_back_ = false;
};

}  // namespace fast
