#pragma once

#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace fast {

class TorchAdapter;

/// Takes an optimizer's step part by part during the backward pass: each part as soon as all its
/// gradients are ready, from the last layer to the first. It tells the adapter (ready_from()), so
/// that a session exchanges the parts that are ready while the rest is computed, as
/// DistributedDataParallel sends gradients (Li et al. 2020). The backward pass does not read a
/// layer's parameters after its gradients are ready, so the step is bit for bit the same.
///
///     auto parts = StepInBackward::parts(model->parameters());    // then an optimizer for each
///     StepInBackward overlap(adapter, parts, [&](std::size_t i) { optimizers[i].step(); });
///     overlap.begin(); loss.backward(); overlap.finish(); session.exchange(report);
///
/// One thread. The adapter must outlive it and keep the same parameters.
class StepInBackward {
 public:
  using Parts = std::vector<std::vector<torch::Tensor>>;
  /// The parameters that require a gradient, the last first, in parts of about equal numbers of
  /// values.
  [[nodiscard]] static Parts parts(const std::vector<torch::Tensor>& parameters,
                                   std::size_t count = 8);

  /// `step(i)` takes the step of parts[i].
  StepInBackward(TorchAdapter& adapter, const Parts& parts, std::function<void(std::size_t)> step);
  ~StepInBackward();
  StepInBackward(const StepInBackward&) = delete;
  StepInBackward& operator=(const StepInBackward&) = delete;

  /// The next backward pass takes a step.
  void begin();
  /// The backward pass is over; takes the step of the parts left, which lack a gradient.
  void finish();
  /// There was no backward pass: takes no step.
  void abandon();

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< hooks hold weak references to it
};

}  // namespace fast
