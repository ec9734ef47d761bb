#pragma once

#include "stencil/core/types.h"

namespace fast {

/// Shows something that changes often at most every so often, but never leaves the last of it
/// unshown. One thread.
class Cadence {
 public:
  explicit Cadence(stencil::Duration every) : every_(every) {}

  /// It may have changed: is it to be shown now? `at_once`: yes, somebody waits for it.
  [[nodiscard]] bool due(stencil::TimePoint now, bool at_once = false) {
    held_back_ = !at_once && now < shown_ + every_;
    if (!held_back_) shown_ = now;
    return !held_back_;
  }
  /// When to ask again at the latest, for what was held back.
  [[nodiscard]] stencil::TimePoint next() const {
    return held_back_ ? shown_ + every_ : stencil::kNever;
  }

 private:
  stencil::Duration every_;
  stencil::TimePoint shown_{};
  bool held_back_ = false;
};

}  // namespace fast
