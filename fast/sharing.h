#pragma once

#include <memory>

#include "stencil/core/layout.h"
#include "stencil/engine/config.h"
#include "stencil/shared/unix_meeting.h"

namespace fast {

struct SessionOptions;

/// Whether this worker offers its neighbours to exchange in shared memory. Throws ConfigError for
/// an unknown transport.
[[nodiscard]] bool shares(const SessionOptions& options, const stencil::EngineConfig& engine);

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
