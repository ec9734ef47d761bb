#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/flat/staged_memory.h"
#include "fast/adapter.h"
#include "fast/errors.h"

namespace fast {

/// A model that is plain memory (a vector, an Eigen matrix, a mapped file, a NumPy array ..): one
/// array of floats, or a place for each of its parameters. The memory belongs to the caller and
/// must outlive the adapter. Training thread only.
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

  /// Parameters by name, each with its memory, which must not move: see memory_of(). Types F32,
  /// F64, F16 and BF16. Where all are F32 and lie end to end they are exchanged in place, else
  /// through a copy of 4 bytes per element, by pull() and push(). `buffers` are saved and not
  /// exchanged. Throws AdapterError for another type, and where bytes do not fit the shape.
  explicit FlatAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers = {});

  [[nodiscard]] std::vector<ParameterSlot> parameters() const override;

  /// The memory itself, or the copy. Throws AdapterError if a vector's size has changed since
  /// construction.
  [[nodiscard]] std::span<float> values() override;
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  [[nodiscard]] std::vector<NamedTensor> state() override;

 private:
  FlatAdapter(std::vector<float>* vector, std::span<float> values,
              std::vector<ParameterSlot> parameters);

  std::vector<float>* vector_ = nullptr;  ///< null: the memory does not move
  std::span<float> values_;               ///< as of the last call
  std::vector<ParameterSlot> parameters_;
  std::vector<NamedTensor> tensors_, buffers_;  ///< `tensors_`: of parameters given by name
  std::optional<StagedMemory> staged_;
};

/// A parameter or buffer of FlatAdapter; shape {} stands for the array's own, [size].
[[nodiscard]] NamedTensor memory_of(std::string name, std::span<float> values,
                                    std::vector<std::int64_t> shape = {});
[[nodiscard]] NamedTensor memory_of(std::string name, std::span<double> values,
                                    std::vector<std::int64_t> shape = {});

}  // namespace fast
