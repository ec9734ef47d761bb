#pragma once

#include <string>

#include "fast/options/session_options.h"
#include "stencil/runtime/pump_status.h"

namespace fast {

// What a user is told of a wait for neighbours: what it brought; and where it has passed its
// deadline, who is missing, and what to do, with options called as the user knows them.

/// Whose model, or whose initial weights, were taken over.
[[nodiscard]] std::string taken_over(const stencil::PumpStatus& status);

/// At the start: none was reached, or the copy of a neighbour's model stands still, or the
/// initial weights of rank 0 did not come.
[[nodiscard]] std::string not_reached(const stencil::PumpStatus& status,
                                      const SessionOptions& options);
/// A wait that takes long, for others that are at work.
[[nodiscard]] std::string waits_for(const stencil::PumpStatus& status, const std::string& what);
/// In mid-run, in modes sync and bounded. `what` the neighbours have not done: "to complete round
/// 7".
[[nodiscard]] std::string overdue(const stencil::PumpStatus& status, const SessionOptions& options,
                                  const std::string& what);

}  // namespace fast
