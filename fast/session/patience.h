#pragma once

#include <cstdint>

#include "stencil/core/types.h"
#include "stencil/runtime/pump_status.h"

namespace fast {

/// How long a worker waits for others. The clock of `deadline` stands while they are at work: while
/// a neighbour that is heard trains or joins, or while this worker has settled and others, which it
/// may not see, have not. Where nothing new is heard of them for `busy`, it runs all the same, so
/// that every wait ends. Both in seconds. One thread.
class Patience {
 public:
  Patience(double deadline, double busy, stencil::TimePoint now);
  /// Without a deadline.
  explicit Patience(stencil::TimePoint now);

  /// Whether the wait has lasted long enough. Call it at least a few times a second.
  [[nodiscard]] bool over(stencil::TimePoint now, const stencil::PumpStatus& status);
  /// Whether the user should be told why this takes so long: once.
  [[nodiscard]] bool worth_a_line(stencil::TimePoint now);

 private:
  /// What others do, as far as it is heard: a number that changes with it.
  [[nodiscard]] static std::uint64_t signs(const stencil::PumpStatus& status);

  stencil::Duration deadline_, busy_;
  stencil::TimePoint begun_, quiet_since_, moved_;
  std::uint64_t signs_ = 0;
  bool logged_ = false;
};

}  // namespace fast
