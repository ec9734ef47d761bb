#pragma once

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <unordered_map>

#include "adapters/torch/optimizer_state.h"

namespace fast {

/// Momentum that follows the moves of the model, not only the worker's own steps.
///
/// SGD's momentum m sums up a worker's own gradients, but not what averaging takes back of its
/// steps. So it keeps pushing towards the worker's own shard, for about ten steps with momentum
/// 0.9, and averaging has to work against that. Here the move of the model by the exchange, between
/// one step and the next, enters momentum as if it had been a part of the step:
///
///     m <- m - share * (x_now - x_after_the_last_step) / learning rate of that step
///
/// With a share of 1, m is the model's whole last move divided by the rate, the quantity that
/// quasi-global momentum (Lin et al. 2021, "Quasi-global momentum", algorithm 1) averages over
/// steps. With 0 it is plain SGD's. The mean momentum over workers is unchanged, since the moves of
/// the exchange add up to 0. It costs one more copy of the parameters. The gain is measured in
/// bench/results/cifar10-research.md.
///
/// A correction acts for about ten steps: with a share of 0.5 it moves the model 4.5 times as far
/// again, which the averages of those steps take back. Where models meet seldom nothing takes it
/// back, and each meeting would end further apart than it began. So `share` is scaled by the part
/// of the parameters that the exchange moves in a step, averaged over as many steps as momentum
/// lasts: all of it where each step brings an average of the whole model, a tenth where every tenth
/// step does or where a codec sends a tenth of the coordinates.
///
/// A parameter added to the optimizer later is corrected from its second step on. Parameters
/// without requires_grad are ignored.
///
/// Not thread-safe. The optimizer must outlive it. TorchTrainer uses it; in a loop of one's own:
///     loss.backward(); correction.before_step(); optimizer.step(); correction.after_step();
///     session.exchange(...);
class MomentumCorrection {
 public:
  MomentumCorrection(torch::optim::SGD& optimizer, double share)
      : optimizer_(optimizer), share_(share) {}

  void before_step();
  void after_step();

  // For checkpoints, see Resumable.
  void save(const ParameterName& name, StateWriter& to);
  void load(const ParameterName& name, const StateReader& from);
  void model_replaced() { left_.clear(); }

 private:
  struct Left {
    torch::Tensor values;  ///< of a parameter, after its last step
    double rate = 0;       ///< of that step
    double highest = 0;    ///< rate so far
    double often = 1;      ///< recent share of its elements that the exchange moves in a step
  };

  torch::optim::SGD& optimizer_;
  double share_;
  std::unordered_map<const void*, Left> left_;  ///< by the parameter's TensorImpl
};

}  // namespace fast
