#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/followers.h"
#include "stencil/core/layout.h"

namespace fast {

class Resumable;

using stencil::ParameterSlot;

/// What becomes of an array of a model in a run.
enum class Role : std::uint8_t {
  kTrained,   ///< a trainable parameter, which neighbours average at every step
  kAveraged,  ///< each worker's own while it trains, and the mean over workers at the end:
              ///< BatchNorm's running statistics
  kCarried,   ///< saved, and taken over with the initial weights, but never averaged: frozen
              ///< parameters, counters, masks
};
/// "trained", "averaged", "carried".
[[nodiscard]] std::string_view name(Role role);

/// One array of a model as it is saved. The bytes belong to the adapter and stay valid until the
/// model is changed.
struct NamedTensor {
  std::string name;
  std::string dtype;  ///< safetensors' names: "F32", "I64", ...
  std::vector<std::int64_t> shape;
  std::span<std::byte> bytes;  ///< little-endian, row-major, contiguous
  Role role = Role::kTrained;
  bool alias = false;  ///< a second name of an array before it: of model files alone
};

/// The bridge to a deep-learning framework: everything that FAST needs to know about a model. To
/// support a framework, implement the first three methods in adapters/NAME/NAME_adapter.{h,cc}, and
/// pull() and push() where its memory cannot be one vector of floats. Only the training thread
/// calls its methods.
class ModelAdapter {
 public:
  virtual ~ModelAdapter() = default;

  /// The exchanged (trainable) parameters, in the order of values(), each with its offset and size
  /// there: end to end, from 0. Constant after construction.
  [[nodiscard]] virtual std::vector<ParameterSlot> parameters() const = 0;

  /// All exchanged parameters as one flat float vector. Where pull() and push() do nothing, it is a
  /// view of the model's memory: the next forward pass uses what is written here. Called at every
  /// exchange(). Here an adapter checks that the framework has not replaced a parameter. Throws
  /// AdapterError, naming the parameter and the remedy, where the adapter cannot restore the view.
  [[nodiscard]] virtual std::span<float> values() = 0;

  /// For a framework whose memory cannot be that vector (on a device, in several places, of another
  /// type); values() is then the adapter's own copy. pull() copies `count` values from `first` on
  /// from the framework; a session calls it before it reads them. push() copies them back; a
  /// session calls it when they are as the next forward pass must find them. Values are rounded to
  /// the layout's type of their parameter, so push() loses nothing. (kF64: where a value is still
  /// the framework's, rounded to float, push() leaves the framework's as it is.) The default does
  /// nothing. Both throw AdapterError.
  virtual void pull(std::size_t first, std::size_t count) { (void)first, (void)count; }
  virtual void push(std::size_t first, std::size_t count) { (void)first, (void)count; }

  /// All tensors of a saved model: parameters and buffers, each once, under the framework's own
  /// names. Writing to the bytes changes the model.
  [[nodiscard]] virtual std::vector<NamedTensor> state() = 0;

  /// Whether pull() and push() do nothing and values() is the model's own memory now: a session may
  /// then change parts of it from another thread; see Session::needed(). The default says no.
  [[nodiscard]] virtual bool in_place() const { return false; }

  /// Optional. A step that is computed layer by layer may call this in mid-step: values() from
  /// `first` to the end already hold the new step and will not change before the next exchange(),
  /// so the session may start to exchange them. See adapters/torch/step_in_backward.h.
  void ready_from(std::size_t first) {
    if (on_ready_) on_ready_(first);
  }
  /// Sets the function that ready_from() calls; a session does this. An empty function means none.
  void on_ready(std::function<void(std::size_t first)> call) { on_ready_ = std::move(call); }

  /// Optional. A step that is computed layer by layer may call this before it uses `count` values
  /// from `first` on; see Session::needed().
  void needed(std::size_t first, std::size_t count) {
    if (on_needed_) on_needed_(first, count);
  }
  /// Sets the function that needed() calls, as on_ready() does.
  void on_needed(std::function<void(std::size_t first, std::size_t count)> call) {
    on_needed_ = std::move(call);
  }

  /// Whoever calls needed() calls this before it changes values that it has not asked for; see
  /// Session::changing().
  void changing() {
    if (on_changing_) on_changing_();
  }
  /// Sets the function that changing() calls, as on_ready() does.
  void on_changing(std::function<void()> call) { on_changing_ = std::move(call); }

  /// Optional. What follows the moves of values() by an exchange: the momentum of an optimizer,
  /// say, which sets it after each step; see fast/momentum.h. A session clears it where the model
  /// is replaced.
  [[nodiscard]] stencil::Followers& followers() { return followers_; }

  /// Adds `part`, such as an optimizer or a data loader (fast/checkpoint/saved_state.h), to a
  /// session's checkpoints. It must outlive the session or be detached before.
  void attach(Resumable& part) { parts_.push_back(&part); }
  void detach(Resumable& part) { std::erase(parts_, &part); }
  [[nodiscard]] std::span<Resumable* const> parts() const { return parts_; }

 private:
  std::function<void(std::size_t)> on_ready_;
  std::function<void(std::size_t, std::size_t)> on_needed_;
  std::function<void()> on_changing_;
  stencil::Followers followers_;
  std::vector<Resumable*> parts_;
};

}  // namespace fast
