#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "fast/adapter.h"

namespace fast {

/// The values of an adapter's model between a pull and a push. Each value is pulled once a step and
/// pushed when the boundary is over. Training thread.
class ModelValues {
 public:
  /// `adapter` must outlive this.
  explicit ModelValues(ModelAdapter& adapter) : adapter_(adapter) { (void)pull(); }

  /// Pulls all values from the framework and returns them. Throws AdapterError, as all methods do.
  std::span<float> pull() {
    values_ = adapter_.values();
    adapter_.pull(0, std::min(pulled_from_, values_.size()));
    pulled_from_ = kNothing;
    return values_;
  }
  /// The same for a part, in the middle of a step; the values before it are pulled later. Parts
  /// come from the last to the first, without a gap.
  std::span<float> pull(std::size_t first, std::size_t count) {
    values_ = adapter_.values();
    adapter_.pull(first, count);
    pulled_from_ = first;
    return values_;
  }
  /// The same for a part that is about to be changed between two steps, and pulled again at the
  /// end of the next one.
  std::span<float> look(std::size_t first, std::size_t count) {
    adapter_.pull(first, count);
    return values_;
  }
  /// Pushes all values to the framework, or a part of them.
  void push() { push(0, values_.size()); }
  void push(std::size_t first, std::size_t count) { adapter_.push(first, count); }

  /// The values as of the last pull.
  [[nodiscard]] std::span<float> get() const { return values_; }

 private:
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  ModelAdapter& adapter_;
  std::span<float> values_;
  std::size_t pulled_from_ = kNothing;  ///< values from here on have been pulled in mid-step
};

}  // namespace fast
