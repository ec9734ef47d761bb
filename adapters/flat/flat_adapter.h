#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "fast/errors.h"
#include "fast/model/staged_memory.h"

namespace fast {

/// A model that is plain memory (a vector, an Eigen matrix, a mapped file, a NumPy array ..): one
/// array of floats, or separate memory for each parameter. The memory belongs to the caller and
/// must outlive the adapter. Training thread only.
class FlatAdapter final : public ModelAdapter {
 public:
  /// The whole vector is one parameter named "values". It may be reallocated (assigned, swapped,
  /// moved into) between two calls, but never change its size.
  explicit FlatAdapter(std::vector<float>& values);

  /// `parameters` names the parts of the vector, end to end and in this order; offsets and sizes
  /// are filled in here. Throws AdapterError where the sizes do not add up to the vector's size.
  FlatAdapter(std::vector<float>& values, std::vector<ParameterSlot> parameters);

  /// The same for any array of floats, which must not move.
  explicit FlatAdapter(std::span<float> values);
  FlatAdapter(std::span<float> values, std::vector<ParameterSlot> parameters);

  /// Parameters by name, each with its memory: see memory_of(), and move(). Types F32,
  /// F64, F16 and BF16. Where all are F32 and lie end to end they are exchanged in place, otherwise
  /// through a copy of 4 bytes per element, by pull() and push(). `buffers` are carried: saved,
  /// and as rank 0's at the start. Throws AdapterError for another type, and where bytes do not
  /// match the shape.
  explicit FlatAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers = {});

  /// Parameter `index`, of those given by name, lies at `memory` from now on.
  void move(std::size_t index, std::byte* memory);

  [[nodiscard]] std::vector<ParameterSlot> parameters() const override;

  /// The memory itself, or the copy. Throws AdapterError if a vector's size has changed since
  /// construction.
  [[nodiscard]] std::span<float> values() override;
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  [[nodiscard]] std::vector<NamedTensor> state() override;
  [[nodiscard]] bool in_place() const override { return !staged_; }

 private:
  FlatAdapter(std::vector<float>* vector, std::span<float> values,
              std::vector<ParameterSlot> parameters);
  void stage();

  std::vector<float>* vector_ = nullptr;  ///< null: the memory does not move
  std::span<float> values_;               ///< as of the last call
  std::vector<ParameterSlot> parameters_;
  std::vector<NamedTensor> tensors_, buffers_;  ///< `tensors_`: parameters given by name
  std::optional<StagedMemory> staged_;
};

/// A parameter or buffer for FlatAdapter; shape {} means the array's own, [size].
[[nodiscard]] NamedTensor memory_of(std::string name, std::span<float> values,
                                    std::vector<std::int64_t> shape = {});
[[nodiscard]] NamedTensor memory_of(std::string name, std::span<double> values,
                                    std::vector<std::int64_t> shape = {});

}  // namespace fast
