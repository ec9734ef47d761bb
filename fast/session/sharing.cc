#include "fast/session/sharing.h"

#include "fast/errors.h"

namespace fast {

using stencil::Segment;

bool shares(const ExchangeOptions& options, const stencil::EngineConfig& engine) {
  return options.share_memory == "auto" && engine.mode.kind != stencil::Mode::Kind::kSync &&
         !engine.neighbours.empty();
}

Segment make_segment(bool shared, const stencil::Layout& layout,
                     const stencil::EngineConfig& engine, const stencil::LogSink& log) {
  if (shared) {
    try {
      return {layout, engine.rank, Segment::Reach::kShared};
    } catch (const ConfigError& error) {
      log(stencil::LogLevel::kInfo, std::string("no shared memory: ") + error.what());
    }
  }
  return {layout, engine.rank, Segment::Reach::kOwn};
}

std::unique_ptr<stencil::UnixMeeting> make_meeting(const stencil::Layout& layout,
                                                   const stencil::EngineConfig& engine,
                                                   Segment& segment, const stencil::LogSink& log) {
  try {
    return std::make_unique<stencil::UnixMeeting>(layout, engine.rank, segment, log);
  } catch (const ConfigError& error) {
    log(stencil::LogLevel::kInfo, std::string("no shared memory: ") + error.what());
    return nullptr;
  }
}

}  // namespace fast
