#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fast/adapter.h"

namespace fast {

/// A float copy of parameters in several places or of several types, for an adapter's pull() and
/// push(). The places need no alignment and may move between two calls. Training thread only.
class StagedMemory {
 public:
  /// The memory of one parameter, in the layout's order.
  struct Place {
    std::byte* memory = nullptr;
    std::size_t count = 0;  ///< elements
    stencil::ElementType type = stencil::ElementType::kF32;
  };

  /// Pulls all parameters.
  explicit StagedMemory(std::vector<Place> places);

  [[nodiscard]] std::span<float> values() { return values_; }
  /// Parameter `index` has moved to `memory`.
  void move(std::size_t index, std::byte* memory) { places_[index].memory = memory; }

  void pull(std::size_t first, std::size_t count);
  /// kF64: adds the change of the value since pull(), so that the digits beyond a float's are kept.
  void push(std::size_t first, std::size_t count);

 private:
  template <typename Visit>
  void each(std::size_t first, std::size_t count, Visit visit);

  std::vector<Place> places_;
  std::vector<std::size_t> offsets_;  ///< in values_, by place
  std::vector<float> values_;
};

}  // namespace fast
