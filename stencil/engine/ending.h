#pragma once

#include <cstdint>

#include "stencil/engine/self.h"

namespace stencil {

/// Decides when a worker may stop: when all workers are settled, as far as it knows. If each looked
/// only at its neighbours, workers that agree among themselves would end before those beyond a slow
/// link agree with them. So the news travels hop by hop: a settled_hops() of k means that all
/// workers within k - 1 hops were settled a little while ago. It is 0 while this worker is not
/// settled, otherwise one more than the least settled_hops() of its neighbours. A worker that
/// trains or is not yet settled thus limits settled_hops() everywhere, by its distance. One thread.
class Ending {
 public:
  explicit Ending(Self& self) : self_(self) {}

  /// Recomputes settled_hops(). Call it after every input that may change it. Tells neighbours when
  /// it changes.
  void update(TimePoint now, Actions& out);
  [[nodiscard]] std::uint32_t settled_hops() const { return self_.settled_hops; }
  /// Whether, by settled_hops(), all workers were settled.
  [[nodiscard]] bool all_settled() const { return self_.settled_hops == most(); }

 private:
  [[nodiscard]] std::uint32_t most() const { return self_.config.grid.reach + 1; }
  Self& self_;
};

}  // namespace stencil
