#pragma once

#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <unordered_map>

#include "adapters/torch/optimizer_state.h"
#include "adapters/torch/torch_adapter.h"
#include "fast/momentum.h"

namespace fast {

/// The momentum of torch::optim::SGD follows the exchange's moves of a model; see
/// fast/momentum.h. Parameters without requires_grad or without momentum are ignored.
///
/// Not thread-safe. Optimizer and adapter must outlive it. TorchTrainer uses it; in a loop of one's
/// own:
///     loss.backward(); optimizer.step(); correction.after_step(); session.exchange(...);
class MomentumCorrection {
 public:
  /// `share`: see FollowingMomentum.
  MomentumCorrection(torch::optim::SGD& optimizer, TorchAdapter& adapter, double share)
      : optimizer_(optimizer), adapter_(adapter), share_(share) {}

  /// To be called after each step of the parameters that the optimizer then has. Momentum that is
  /// not in the order of its parameter's memory is put into that order.
  void after_step();

  // For checkpoints, see Resumable.
  void save(const ParameterName& name, StateWriter& to);
  void load(const ParameterName& name, const StateReader& from);
  void model_replaced();

 private:
  struct Followed {
    torch::Tensor momentum;  ///< kept alive for the follower, which points to its memory
    FollowingMomentum following;
  };

  torch::optim::SGD& optimizer_;
  TorchAdapter& adapter_;
  double share_;
  std::unordered_map<const void*, Followed> followed_;  ///< by the parameter's TensorImpl
};

}  // namespace fast
