#pragma once

#include "fast/session/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/core/terms.h"
#include "stencil/core/topology.h"

namespace fast {

/// What this worker's run goes by, and its neighbours' too.
[[nodiscard]] stencil::Terms make_terms(const SessionOptions& options,
                                        const stencil::Topology& topology,
                                        const stencil::Layout& layout);

}  // namespace fast
