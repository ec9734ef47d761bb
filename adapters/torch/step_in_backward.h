#pragma once

#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace fast {

class TorchAdapter;

/// Makes an optimizer's step part by part while the backward pass goes on: each as soon as all its
/// gradients are there, from the last layer to the first. The adapter is told (ready_from()), so
/// that a session exchanges what is made while the rest is computed, as DistributedDataParallel
/// sends gradients (Li et al. 2020). A layer's parameters are not read any more once its gradients
/// are there, so the step is the same to the bit.
///
///     auto parts = StepInBackward::parts(model->parameters());    // then an optimizer for each
///     StepInBackward overlap(adapter, parts, [&](std::size_t i) { optimizers[i].step(); });
///     overlap.begin(); loss.backward(); overlap.finish(); session.exchange(...);
///
/// One thread. The adapter must outlive it, and its parameters stay the same.
class StepInBackward {
 public:
  using Parts = std::vector<std::vector<torch::Tensor>>;
  /// Parameters that want a gradient, the last first, in parts of about as many values each.
  [[nodiscard]] static Parts parts(const std::vector<torch::Tensor>& parameters,
                                   std::size_t count = 8);

  /// `step(i)` makes that of parts[i].
  StepInBackward(TorchAdapter& adapter, const Parts& parts, std::function<void(std::size_t)> step);
  ~StepInBackward();
  StepInBackward(const StepInBackward&) = delete;
  StepInBackward& operator=(const StepInBackward&) = delete;

  /// The next backward pass is to make a step.
  void begin();
  /// It is over; makes what parts are left, for want of a gradient.
  void finish();
  /// There was none: no step is made.
  void abandon();

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< hooks know of it as long as it is there
};

}  // namespace fast
