#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/layout.h"

namespace fast {

/// One tensor of a model as it is saved: parameters and buffers alike. The bytes belong to the
/// adapter and stay valid until the model is changed.
struct NamedTensor {
  std::string name;
  std::string dtype;  ///< safetensors' names: "F32", "I64", ...
  std::vector<std::int64_t> shape;
  std::span<std::byte> bytes;  ///< little-endian, row-major, contiguous
};

/// The bridge to a deep-learning framework: everything FAST needs to know of a model. To support a
/// framework, implement these three methods in adapters/NAME/NAME_adapter.{h,cc}. All methods are
/// called by the training thread alone.
class ModelAdapter {
 public:
  virtual ~ModelAdapter() = default;

  /// The exchanged (trainable) parameters, in the order in which values() lays them out. Constant
  /// after construction.
  [[nodiscard]] virtual std::vector<stencil::ParameterSlot> parameters() const = 0;

  /// All exchanged parameters as one flat float vector that IS the model's memory (a view): what
  /// is written here is what the next forward pass uses. Called at every exchange(); this is where
  /// an adapter checks that the framework has not replaced a parameter behind its back. Throws
  /// AdapterError, naming the parameter and the remedy, where that cannot be mended.
  [[nodiscard]] virtual std::span<float> values() = 0;

  /// Everything that a saved model holds: parameters and buffers, each once, under the framework's
  /// own names. Writing to the bytes changes the model.
  [[nodiscard]] virtual std::vector<NamedTensor> state() = 0;

  /// Whoever makes a step part by part (adapters/torch/step_in_backward.h) may say here, in the
  /// middle of it, that all of values() from `first` on have made it and will not change before the
  /// next exchange(): they may be exchanged from now on. Optional; a session listens.
  void made_from(std::size_t first) {
    if (listener_) listener_(first);
  }
  /// Of made_from(); empty: nobody. Called within it.
  void listen(std::function<void(std::size_t first)> listener) { listener_ = std::move(listener); }

 private:
  std::function<void(std::size_t)> listener_;
};

}  // namespace fast
