#pragma once

#include <string>

#include "fast/session/session_options.h"
#include "stencil/runtime/pump_status.h"

namespace fast {

// What a user is told where a wait for neighbours has passed its deadline: who is missing, and what
// to do, with options called as the user knows them.

/// At the start: none was reached, or the copy of a neighbour's model stands still.
[[nodiscard]] std::string not_reached(const stencil::PumpStatus& status,
                                      const SessionOptions& options);
/// In mid-run, in modes sync and bounded. `what` the neighbours have not done: "to complete round
/// 7".
[[nodiscard]] std::string overdue(const stencil::PumpStatus& status, const SessionOptions& options,
                                  const std::string& what);

}  // namespace fast
