#pragma once

#include "fast/options/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/core/terms.h"
#include "stencil/core/topology.h"

namespace fast {

/// The name of the one that may grow when a run is resumed by all workers together: its length.
inline constexpr char kBudgetTerm[] = "budget";

/// The terms that this worker's run shares with its neighbours: all of them; and those for which a
/// Hello has no field.
[[nodiscard]] stencil::Terms make_terms(const SessionOptions& options,
                                        const stencil::Topology& topology,
                                        const stencil::Layout& layout);
[[nodiscard]] stencil::Terms more_terms(const SessionOptions& options);

}  // namespace fast
