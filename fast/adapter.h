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
/// framework, implement the first three methods in adapters/NAME/NAME_adapter.{h,cc}, and pull()
/// and push() where its memory cannot be one vector of floats. All methods are called by the
/// training thread alone.
class ModelAdapter {
 public:
  virtual ~ModelAdapter() = default;

  /// The exchanged (trainable) parameters, in the order in which values() lays them out. Constant
  /// after construction.
  [[nodiscard]] virtual std::vector<ParameterSlot> parameters() const = 0;

  /// All exchanged parameters as one flat float vector. Where pull() and push() do nothing, it IS
  /// the model's memory (a view): what is written here is what the next forward pass uses. Called
  /// at every exchange(); this is where an adapter checks that the framework has not replaced a
  /// parameter behind its back. Throws AdapterError, naming the parameter and the remedy, where
  /// that cannot be mended.
  [[nodiscard]] virtual std::span<float> values() = 0;

  /// For a framework whose memory cannot be that vector (on a device, in several places, of another
  /// type): values() is then the adapter's own copy. A session calls pull() before it reads
  /// `count` values from `first` on, which brings them from the framework, and push() once they are
  /// as the next forward pass must find them, which takes them there. The layout's type of a
  /// parameter says what its values were rounded to, so push() loses nothing (kF64: values that
  /// have not changed since pull() leave the framework's as they are). Default: nothing. Both
  /// throw AdapterError.
  virtual void pull(std::size_t first, std::size_t count) { (void)first, (void)count; }
  virtual void push(std::size_t first, std::size_t count) { (void)first, (void)count; }

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
