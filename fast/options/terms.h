#pragma once

#include "fast/options/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/core/terms.h"
#include "stencil/core/topology.h"

namespace fast {

/// The terms that this worker's run shares with its neighbours: all of them; and those for which a
/// Hello has no field.
[[nodiscard]] stencil::Terms make_terms(const SessionOptions& options,
                                        const stencil::Topology& topology,
                                        const stencil::Layout& layout);
[[nodiscard]] stencil::Terms more_terms(const SessionOptions& options);

}  // namespace fast
