#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fast/adapter.h"
#include "fast/errors.h"

namespace fast {

/// A model that is a plain vector of floats. The vector belongs to the caller and must outlive the
/// adapter. It may be reallocated (assigned, swapped, moved into) between two calls, but never
/// change its size. Training thread only.
class FlatAdapter final : public ModelAdapter {
 public:
  /// The whole vector is one parameter named "values".
  explicit FlatAdapter(std::vector<float>& values);

  /// Names and shapes of what lies in the vector, end to end and in this order; offsets and sizes
  /// are filled in here. Throws AdapterError where they do not add up to the vector's size.
  FlatAdapter(std::vector<float>& values, std::vector<stencil::ParameterSlot> parameters);

  [[nodiscard]] std::vector<stencil::ParameterSlot> parameters() const override;

  /// The vector itself. Throws AdapterError if its size has changed since construction.
  [[nodiscard]] std::span<float> values() override;
  [[nodiscard]] std::vector<NamedTensor> state() override;

 private:
  std::vector<float>& values_;
  std::vector<stencil::ParameterSlot> parameters_;
  std::size_t size_;
};

}  // namespace fast
