#pragma once

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <unordered_map>

#include "adapters/torch/optimizer_state.h"

namespace fast {

/// Momentum that knows where the model went, and not only where its own steps led.
///
/// SGD's momentum m sums up a worker's own gradients; what neighbours take back of its steps it
/// does not see. So it goes on pushing towards what is peculiar to its own shard, for ten steps or
/// so with momentum 0.9, and averaging has to work against that. Here what the exchange moved the
/// model by, between one step and the next, goes into momentum as if it had been a part of the
/// step:
///
///     m <- m - share * (x_now - x_after_the_last_step) / learning rate of that step
///
/// With a share of 1, m is the model's whole last move over the rate: what quasi-global momentum
/// (Lin et al. 2021, "Quasi-global momentum", algorithm 1) averages over steps. With 0 it is plain
/// SGD's. The mean of all workers stays as it is: what the exchange moves adds up to nothing.
/// Costs one more copy of the parameters. What it gains: bench/results/cifar10-research.md.
///
/// What is put into momentum goes on for some ten steps: with a share of 0.5 it moves the model 4.5
/// times as far again, which the averages of those steps take back. Where models meet seldom
/// nothing does, and each meeting would end further apart than it began. So the share is that of
/// `share` which the exchange has moved of the parameters in a step, averaged over as many steps as
/// momentum lasts: all of it where each step brings an average of the whole model, a tenth where
/// every tenth step does or where a codec sends a tenth of the coordinates.
///
/// A parameter that the optimizer is given later is corrected from its second step on; one without
/// requires_grad is left alone.
///
/// Not thread-safe. The optimizer must outlive it. TorchTrainer uses it; in a loop without:
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
    double often = 1;      ///< share of its elements that the exchange moves in a step, of late
  };

  torch::optim::SGD& optimizer_;
  double share_;
  std::unordered_map<const void*, Left> left_;  ///< by the parameter's TensorImpl
};

}  // namespace fast
