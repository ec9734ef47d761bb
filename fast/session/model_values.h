#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "fast/adapter.h"

namespace fast {

/// The values of an adapter's model between a pull and a push: each value is pulled once a step,
/// and pushed when the boundary is over. Training thread.
class ModelValues {
 public:
  /// `adapter` must outlive this.
  explicit ModelValues(ModelAdapter& adapter) : adapter_(adapter) { (void)pull(); }

  /// All of them as the framework has them now. Throws AdapterError, as all methods do.
  std::span<float> pull() {
    values_ = adapter_.values();
    adapter_.pull(0, std::min(pulled_from_, values_.size()));
    pulled_from_ = kNothing;
    return values_;
  }
  /// The same of a part, in the middle of a step: what lies before it is pulled later. Parts come
  /// from the last to the first, without a gap.
  std::span<float> pull(std::size_t first, std::size_t count) {
    values_ = adapter_.values();
    adapter_.pull(first, count);
    pulled_from_ = first;
    return values_;
  }
  /// The framework's are these from now on.
  void push() { adapter_.push(0, values_.size()); }

  /// As of the last pull.
  [[nodiscard]] std::span<float> get() const { return values_; }

 private:
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  ModelAdapter& adapter_;
  std::span<float> values_;
  std::size_t pulled_from_ = kNothing;  ///< values from there on have been, in mid-step
};

}  // namespace fast
