#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "stencil/core/element_type.h"
#include "stencil/core/followers.h"

namespace fast {

/// A parameter's momentum that follows the moves of the model, not only the worker's own steps.
///
/// SGD's momentum m sums up a worker's own gradients, but not what averaging takes back of its
/// steps. So it keeps pushing towards the worker's own shard, for about ten steps with momentum
/// 0.9, and averaging has to work against that. Here what an exchange moves the parameter x by
/// enters momentum as if it had been a part of the step:
///
///     m <- m - share * (x after it - x before it) / learning rate of the last step
///
/// With a share of 1, m is the model's whole last move divided by the rate, the quantity that
/// quasi-global momentum (Lin et al. 2021, "Quasi-global momentum", algorithm 1) averages over
/// steps. With 0 it is plain SGD's. The mean momentum over workers is unchanged, since the moves of
/// the exchange add up to 0. A fold makes the correction while x is in cache, so that it costs one
/// pass over m. The gain is measured in bench/results/cifar10-research.md.
///
/// A correction acts for about ten steps: with a share of 0.5 it moves the model 4.5 times as far
/// again, which the averages of those steps take back. Where models meet seldom nothing takes it
/// back, and each meeting would end further apart than it began. So `share` is scaled by the part
/// of the parameter that the exchange moves in a step, averaged over as many steps as momentum
/// lasts: all of it where each step brings an average of the whole model, a tenth where every tenth
/// step does or where a codec sends a tenth of the coordinates.
///
/// **Unlike speeds.** A worker whose neighbours make a hundred steps in one of its own is moved as
/// far in it. Half of that, taken for momentum, would throw it 45 steps ahead in its next step, and
/// its neighbours after it: a loop whose gain grows with the ratio of speeds. Two rules keep it
/// below one.
///
/// 1. What follows is never longer than the worker's own gradients can make it, block by block
///    (stencil/core/followers.h): |m| <= sum of decay^k |gradient of k steps ago|, plain SGD's
///    own bound. What would be longer is turned, no more. So a worker's step is bounded by its own
///    gradients whatever neighbours do, and averaging lengthens nothing: the further the exchange
///    moves a model, the smaller the part of it that comes back as a step. This holds at any ratio
///    of speeds, after a freeze and after a return.
/// 2. Only a meeting with a worker of like pace is a correction (stencil/neighbour/steps.h,
///    likeness()). A slow worker takes back the steps of its quick neighbours, and would keep what
///    they lose as momentum that it seldom uses, which no bound would bring back. What comes from
///    workers of another pace is left out at both ends: edge by edge (stencil/mix/set_aside.h),
///    and, where quick neighbours reach into a slow one's memory, all of it there
///    (stencil/runtime/likeness.h). So momentum still adds up to the same over workers of one pace.
///
/// Initial weights, a model that is taken over, and what came while a worker waited to begin are no
/// moves: nothing follows them. Measured in bench/results/cifar10.md, "Workers of very unequal
/// speed".
class FollowingMomentum {
 public:
  struct Step {
    double rate = 0;   ///< learning rate
    double decay = 0;  ///< what momentum keeps of itself in a step, from 0 to 1
    double share = 0.5;
  };

  /// To be called after each step: `momentum`, of `type` and in the order of the parameter, follows
  /// from now on as `follower`, which is the parameter's. It must stay until the next call.
  void stepped(stencil::Follower& follower, stencil::ElementType type, void* momentum,
               const Step& step) {
    if (follower.values != nullptr) count(follower, step.decay);
    highest_ = std::max(highest_, step.rate);
    const double often = step.decay * often_ + (1 - step.decay) * last_share_;
    const bool large = step.rate > kLeastRate * highest_;
    follower.type = type;
    follower.values = momentum;
    follower.decay = step.decay;
    ++follower.step;
    follower.factor = large ? -step.share * often / step.rate : 0;
    follower.moved = 0;
  }

  /// For checkpoints.
  [[nodiscard]] std::array<double, 3> state() const { return {highest_, often_, last_share_}; }
  void set_state(const std::array<double, 3>& state) {
    highest_ = state[0];
    often_ = state[1];
    last_share_ = state[2];
  }

 private:
  /// Below this fraction of the highest rate so far nothing is corrected: what the exchange moved,
  /// divided by so small a rate, would be noise.
  static constexpr double kLeastRate = 0.01;

  /// Counts what has moved since the step before.
  void count(const stencil::Follower& follower, double decay) {
    const auto size = static_cast<double>(follower.size);
    const double share = std::min(1.0, static_cast<double>(follower.moved) / size);
    often_ = decay * often_ + (1 - decay) * share;
    if (share > 0) last_share_ = share;
  }

  double highest_ = 0;     ///< rate so far
  double often_ = 1;       ///< share that moves in a step, decayed mean up to the step before
  double last_share_ = 1;  ///< the share that moved when something last did
};

}  // namespace fast
