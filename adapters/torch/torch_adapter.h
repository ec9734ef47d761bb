#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adapters/torch/tensor_groups.h"
#include "fast/adapter.h"
#include "fast/errors.h"
#include "stencil/core/types.h"

namespace fast {

struct TorchAdapterOptions {
  /// Floating buffers (BatchNorm's running statistics) join the exchanged vector; integer counters
  /// never do.
  bool mix_buffers = false;
  stencil::LogSink log;  ///< where re-homing is told; may be empty
};

/// Any LibTorch module as one flat float vector.
///
/// Attaching moves the trainable parameters (requires_grad) into one flat float32 tensor and makes
/// each of them a contiguous view of its place in it (set_data). Handles stay what they were, so an
/// optimizer made before or after works, with its state. Parameters that share memory are moved
/// once and stay tied, whatever their names. Frozen parameters stay where they are.
///
/// One adapter per module at a time, and it must not outlive the module's use by others: after the
/// adapter is gone the module goes on with the flat memory. Parameters registered, and
/// requires_grad changed, after attaching are not noticed: make a new adapter and session then.
/// Memory is shared with the module: training thread only, between steps.
class TorchAdapter final : public ModelAdapter {
 public:
  /// Throws AdapterError, naming the parameter, for what cannot be exchanged (not float32, not on
  /// the CPU, not dense, partly overlapping another) and for a module without trainable parameters.
  /// Nothing has been moved then.
  explicit TorchAdapter(torch::nn::Module& module, TorchAdapterOptions options = {});
  TorchAdapter(const TorchAdapter&) = delete;
  TorchAdapter& operator=(const TorchAdapter&) = delete;

  [[nodiscard]] std::vector<stencil::ParameterSlot> parameters() const override;

  /// The flat vector. A parameter whose memory was replaced since (torch::load, .to) is copied in
  /// and made a view again, with one log line; if its type, device or shape has changed, or tied
  /// parameters were given different values, AdapterError names it. Allocates nothing otherwise.
  [[nodiscard]] std::span<float> values() override;

  /// Parameters, then buffers, as named_parameters() and named_buffers() call them; tied ones once,
  /// under their first name. Throws AdapterError for what is not on the CPU.
  [[nodiscard]] std::vector<NamedTensor> state() override;

 private:
  // A registered tensor's place in the flat vector. Tied tensors have the same `slot`.
  struct Home {
    std::size_t tensor;  // index into tensors_
    std::size_t slot;    // index into slots_
    float* data;
    std::vector<std::int64_t> sizes, strides;
  };

  void add_group(const TensorGroup& group, std::size_t& offset);
  void move_in(const TensorGroup& group, std::size_t slot);
  [[nodiscard]] bool at_home(const Home& home) const;
  [[nodiscard]] torch::Tensor view_of(const Home& home) const;
  void bring_home();

  std::vector<RegisteredTensor> tensors_;
  std::vector<stencil::ParameterSlot> slots_;
  std::vector<Home> homes_;  // by slot
  torch::Tensor flat_;
  stencil::LogSink log_;
};

}  // namespace fast
