#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fast/adapter.h"

namespace fast {

/// A float copy of parameters that lie in several places or are of several types, for an adapter's
/// pull() and push(). The places need no alignment, and may be moved between two calls. Training
/// thread only.
class StagedMemory {
 public:
  /// Where one parameter lies, in the layout's order.
  struct Place {
    std::byte* memory = nullptr;
    std::size_t count = 0;  ///< of elements
    stencil::ElementType type = stencil::ElementType::kF32;
  };

  /// Pulls all of them.
  explicit StagedMemory(std::vector<Place> places);

  [[nodiscard]] std::span<float> values() { return values_; }
  /// The place of parameter `index` is `memory` from now on.
  void move(std::size_t index, std::byte* memory) { places_[index].memory = memory; }

  void pull(std::size_t first, std::size_t count);
  /// kF64: adds what the value has changed by since pull(), so that the digits which a float does
  /// not have stay as they are.
  void push(std::size_t first, std::size_t count);

 private:
  template <typename Visit>
  void each(std::size_t first, std::size_t count, Visit visit);

  std::vector<Place> places_;
  std::vector<std::size_t> offsets_;  ///< in values_, by place
  std::vector<float> values_;
};

}  // namespace fast
