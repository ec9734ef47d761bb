#pragma once

#include <memory>

#include "fast/session/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/engine/config.h"
#include "stencil/shared/unix_meeting.h"

namespace fast {

/// Whether this worker offers its neighbours to exchange in shared memory.
[[nodiscard]] bool shares(const ExchangeOptions& options, const stencil::EngineConfig& engine);

/// The memory of the exchange; its own alone, with a line in the log, where the system gives none
/// that can be shared.
[[nodiscard]] stencil::Segment make_segment(bool shared, const stencil::Layout& layout,
                                            const stencil::EngineConfig& engine,
                                            const stencil::LogSink& log);

/// Null, with a line in the log, where that cannot be had.
[[nodiscard]] std::unique_ptr<stencil::UnixMeeting> make_meeting(
    const stencil::Layout& layout, const stencil::EngineConfig& engine, stencil::Segment& segment,
    const stencil::LogSink& log);

}  // namespace fast
