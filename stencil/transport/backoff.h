#pragma once

#include <algorithm>
#include <chrono>

#include "stencil/core/random.h"
#include "stencil/core/types.h"
#include "stencil/transport/factory.h"

namespace stencil {

/// The pauses before a link is dialled again: each up to twice as long as the last. Half of each is
/// waited and a random share of the rest, so that not all who have lost one worker dial it at the
/// same time (Brooker 2015, "Exponential backoff and jitter": equal jitter).
class Backoff {
 public:
  explicit Backoff(const TransportOptions& options)
      : least_(options.reconnect_min), most_(options.reconnect_max), next_(least_) {}

  [[nodiscard]] Duration pause(Random& jitter) {
    const double share = 0.5 + 0.5 * jitter.uniform();
    const auto pause = std::chrono::duration_cast<Duration>(share * next_);
    next_ = std::min(2 * next_, most_);
    return pause;
  }
  /// The link has served.
  void restart() { next_ = least_; }

 private:
  Duration least_, most_, next_;
};

}  // namespace stencil
