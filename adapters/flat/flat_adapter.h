#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fast/adapter.h"
#include "fast/errors.h"

namespace fast {

/// A model that is plain memory: one vector of floats, or a place for each of its parameters. The
/// memory belongs to the caller and must outlive the adapter. Training thread only.
class FlatAdapter final : public ModelAdapter {
 public:
  /// The whole vector is one parameter named "values". It may be reallocated (assigned, swapped,
  /// moved into) between two calls, but never change its size.
  explicit FlatAdapter(std::vector<float>& values);

  /// Names and shapes of what lies in the vector, end to end and in this order; offsets and sizes
  /// are filled in here. Throws AdapterError where they do not add up to the vector's size.
  FlatAdapter(std::vector<float>& values, std::vector<ParameterSlot> parameters);

  /// The same over memory of any kind, which must not move.
  explicit FlatAdapter(std::span<float> values);
  FlatAdapter(std::span<float> values, std::vector<ParameterSlot> parameters);

  /// Parameters by name, end to end in memory, and buffers, which are saved with them and not
  /// exchanged. Throws AdapterError where that is not so.
  explicit FlatAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers = {});

  [[nodiscard]] std::vector<ParameterSlot> parameters() const override;

  /// The memory itself. Throws AdapterError if a vector's size has changed since construction.
  [[nodiscard]] std::span<float> values() override;
  [[nodiscard]] std::vector<NamedTensor> state() override;

 private:
  FlatAdapter(std::vector<float>* vector, std::span<float> values,
              std::vector<ParameterSlot> parameters, std::vector<NamedTensor> buffers);

  std::vector<float>* vector_;  ///< null: a span
  std::span<float> values_;     ///< as of the last call
  std::vector<ParameterSlot> parameters_;
  std::vector<NamedTensor> buffers_;
};

}  // namespace fast
