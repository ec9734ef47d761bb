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

class Resumable;

using stencil::ParameterSlot;

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
  [[nodiscard]] virtual std::vector<ParameterSlot> parameters() const = 0;

  /// All exchanged parameters as one flat float vector that IS the model's memory (a view): what
  /// is written here is what the next forward pass uses. Called at every exchange(); this is where
  /// an adapter checks that the framework has not replaced a parameter behind its back. Throws
  /// AdapterError, naming the parameter and the remedy, where that cannot be mended.
  [[nodiscard]] virtual std::span<float> values() = 0;

  /// Everything that a saved model holds: parameters and buffers, each once, under the framework's
  /// own names. Writing to the bytes changes the model.
  [[nodiscard]] virtual std::vector<NamedTensor> state() = 0;

  /// Optional. A step that is computed layer by layer may call this in mid-step: values() from
  /// `first` to the end already hold the new step and will not change before the next exchange(),
  /// so the session may start to exchange them. See adapters/torch/step_in_backward.h.
  void ready_from(std::size_t first) {
    if (on_ready_) on_ready_(first);
  }
  /// Sets what ready_from() calls; a session does. An empty function: nothing.
  void on_ready(std::function<void(std::size_t first)> call) { on_ready_ = std::move(call); }

  /// A session's checkpoints hold `part` beside the model, until it is detached: an optimizer, a
  /// data loader (fast/checkpoint/saved_state.h). It must outlive the adapter or be detached.
  void attach(Resumable& part) { parts_.push_back(&part); }
  void detach(Resumable& part) { std::erase(parts_, &part); }
  [[nodiscard]] std::span<Resumable* const> parts() const { return parts_; }

 private:
  std::function<void(std::size_t)> on_ready_;
  std::vector<Resumable*> parts_;
};

}  // namespace fast
