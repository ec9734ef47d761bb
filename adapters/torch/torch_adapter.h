#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/torch/tensor_groups.h"
#include "fast/adapter.h"
#include "fast/errors.h"
#include "fast/model/averaged_at_end.h"
#include "stencil/core/types.h"

namespace fast {

struct TorchAdapterOptions {
  /// Running statistics (buffers called running_mean and running_var) are this worker's own in
  /// training and the mean over workers at the end; see AveragedAtEnd.
  bool mix_buffers = false;
  stencil::LogSink log;  ///< gets a line when parameters are moved back; may be empty
};

/// Any LibTorch module, or list of tensors, as one flat float vector.
///
/// Attaching moves the trainable parameters (requires_grad) that are float32 into one flat tensor
/// and makes each of them a contiguous view of its place in it (set_data). Handles stay valid, so
/// an optimizer made before or after works and keeps its state. Parameters that share memory are
/// moved once and stay tied, whatever their names. Parameters of float64, float16 and bfloat16 stay
/// where they are, made contiguous, and are exchanged through a float32 copy. Frozen parameters
/// and buffers stay where they are, and all workers begin with those of rank 0.
///
/// Only one adapter per module at a time. The module keeps using the flat memory after the adapter
/// is destroyed. The adapter does not notice parameters registered, or requires_grad changed, after
/// attaching: make a new adapter and session then. Memory is shared with the module: training
/// thread only, between steps.
class TorchAdapter final : public ModelAdapter {
 public:
  /// Throws AdapterError, naming the parameter, for what cannot be exchanged (no real floats, not
  /// on the CPU, not dense, partly overlapping another) and for a module without trainable
  /// parameters. Nothing has been moved then.
  explicit TorchAdapter(torch::nn::Module& module, TorchAdapterOptions options = {});
  /// Takes tensors by name, for example those of a TorchScript module or a list of parameters.
  /// Names must be unique.
  explicit TorchAdapter(std::vector<RegisteredTensor> tensors, TorchAdapterOptions options = {});
  TorchAdapter(const TorchAdapter&) = delete;
  TorchAdapter& operator=(const TorchAdapter&) = delete;

  [[nodiscard]] std::vector<stencil::ParameterSlot> parameters() const override;

  /// The flat vector. A parameter whose memory was replaced since (torch::load, .to) is copied in
  /// and made a view again, with one log line. If its type, device or shape has changed, or tied
  /// parameters got different values, throws AdapterError, naming it. Otherwise allocates nothing.
  [[nodiscard]] std::span<float> values() override;
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  [[nodiscard]] bool in_place() const override;

  /// Parameters, then buffers, with the names of named_parameters() and named_buffers(); tied ones
  /// once, under their first name. Throws AdapterError for a tensor that is not on the CPU.
  [[nodiscard]] std::vector<NamedTensor> state() override;

  /// The next step is about to call `module`, the whole of which is not used yet since the last
  /// exchange: its averages are taken in now (ModelAdapter::needed()). What is called layer by
  /// layer says so layer by layer. Parameters that are not exchanged are passed over.
  void uses(const torch::nn::Module& module);

  /// The parameter's offset in values(). Throws InvariantError where `parameter` is not exchanged.
  [[nodiscard]] std::size_t offset_of(const torch::Tensor& parameter) const;

 private:
  // A registered tensor's place in the flat vector. Tied tensors have the same `slot`. A tensor
  // that is not float32 is not a view of its place, but is copied there and back.
  struct Home {
    std::size_t tensor;  // index into tensors_
    std::size_t slot;    // index into slots_
    float* data;
    std::vector<std::int64_t> sizes, strides;
    torch::ScalarType type;
  };

  // Called with a part of a tensor to copy and its place, both flat.
  using Copied = std::function<void(torch::Tensor tensor, torch::Tensor place)>;

  using Range = std::pair<std::size_t, std::size_t>;  // first value, and how many
  [[nodiscard]] std::vector<Range> ranges_of(const torch::nn::Module& module) const;
  void add_group(const TensorGroup& group, std::size_t& offset);
  void move_in(const TensorGroup& group, std::size_t slot);
  void average_statistics(const std::vector<std::size_t>& statistics, std::size_t offset);
  void follow_statistics();
  [[nodiscard]] bool at_home(const Home& home) const;
  [[nodiscard]] torch::Tensor view_of(const Home& home) const;
  void bring_home();
  void copy_in(const std::vector<const Home*>& moved);
  void each_copied(std::size_t first, std::size_t count, const Copied& visit);

  std::vector<RegisteredTensor> tensors_;
  std::vector<stencil::ParameterSlot> slots_;
  std::vector<Home> homes_;                                                // by slot
  std::unordered_map<const torch::nn::Module*, std::vector<Range>> used_;  // by uses()
  torch::Tensor flat_;
  struct Statistics {
    std::size_t tensor;  // index into tensors_
    const void* at;      // its memory
  };
  std::vector<Statistics> statistics_;  // those in averaged_
  std::optional<AveragedAtEnd> averaged_;
  stencil::LogSink log_;
};

}  // namespace fast
