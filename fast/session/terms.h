#pragma once

#include "fast/session/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/core/terms.h"
#include "stencil/core/topology.h"

namespace fast {

/// What this worker's run goes by, and its neighbours' too: all of it; and what a Hello has no
/// field for.
[[nodiscard]] stencil::Terms make_terms(const SessionOptions& options,
                                        const stencil::Topology& topology,
                                        const stencil::Layout& layout);
[[nodiscard]] stencil::Terms more_terms(const SessionOptions& options);

}  // namespace fast
