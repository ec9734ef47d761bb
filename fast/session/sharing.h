#pragma once

#include <memory>

#include "fast/options/session_options.h"
#include "stencil/core/layout.h"
#include "stencil/engine/config.h"
#include "stencil/shared/unix_meeting.h"

namespace fast {

/// Whether this worker offers its neighbours shared memory.
[[nodiscard]] bool shares(const ExchangeOptions& options, const stencil::EngineConfig& engine);

/// Makes the memory of the exchange. Where the system provides no memory that can be shared, logs
/// that and makes it private.
[[nodiscard]] stencil::Segment make_segment(bool shared, const stencil::Layout& layout,
                                            const stencil::EngineConfig& engine,
                                            const stencil::LogSink& log);

/// Returns null, and logs why, where a meeting is not possible.
[[nodiscard]] std::unique_ptr<stencil::UnixMeeting> make_meeting(
    const stencil::Layout& layout, const stencil::EngineConfig& engine, stencil::Segment& segment,
    const stencil::LogSink& log);

}  // namespace fast
