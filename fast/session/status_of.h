#pragma once

#include "fast/session/status.h"
#include "stencil/runtime/pump.h"

namespace fast {

/// The engine's own picture, as users of a session see it at `now`.
[[nodiscard]] SessionStatus status_of(const stencil::PumpStatus& status, stencil::TimePoint now);

}  // namespace fast
