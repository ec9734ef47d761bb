#pragma once

#include "fast/session/status.h"
#include "stencil/runtime/pump.h"

namespace fast {

/// Converts the pump's status to that of a session at `now`.
[[nodiscard]] SessionStatus status_of(const stencil::PumpStatus& status, stencil::TimePoint now);

}  // namespace fast
