#pragma once

#include <cstdint>

#include "stencil/engine/self.h"

namespace stencil {

/// When a worker may stop: when all are settled, as far as word has come. Going by one's neighbours
/// alone, workers who agree among themselves would end before those beyond a slow link have come
/// round. So word goes from hop to hop: calm() of k says that all within k - 1 hops were settled, a
/// little while ago. It is 0 while this worker is not settled, else one more than the least of what
/// its neighbours said. Whoever trains or is not yet settled keeps it low for everybody, by the
/// distance. One thread.
class Ending {
 public:
  explicit Ending(Self& self) : self_(self) {}

  /// After every input that may change it; tells neighbours where it does.
  void update(TimePoint now, Actions& out);
  [[nodiscard]] std::uint32_t calm() const { return self_.calm; }
  /// By calm(), all were settled.
  [[nodiscard]] bool all_calm() const { return self_.calm == most(); }

 private:
  [[nodiscard]] std::uint32_t most() const { return self_.config.reach + 1; }
  Self& self_;
};

}  // namespace stencil
