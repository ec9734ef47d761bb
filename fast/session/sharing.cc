#include "fast/session/sharing.h"

#include <algorithm>

#include "fast/errors.h"

namespace fast {

using stencil::Segment;

bool shares(const ExchangeOptions& options, const stencil::EngineConfig& engine) {
  return options.transport == "auto" && engine.mode.kind != stencil::Mode::Kind::kSync &&
         !engine.topology.neighbours(engine.rank).empty();
}

Segment make_segment(bool shared, const stencil::Layout& layout,
                     const stencil::EngineConfig& engine, const stencil::LogSink& log) {
  const auto slots = static_cast<std::uint32_t>(engine.topology.neighbours(engine.rank).size());
  if (shared) {
    try {
      return {layout, engine.rank, slots, Segment::Reach::kShared};
    } catch (const ConfigError& error) {
      log(stencil::LogLevel::kInfo, std::string("no shared memory: ") + error.what());
    }
  }
  return {layout, engine.rank, slots, Segment::Reach::kOwn};
}

std::unique_ptr<stencil::UnixMeeting> make_meeting(const stencil::Layout& layout,
                                                   const stencil::EngineConfig& engine,
                                                   Segment& segment, const stencil::LogSink& log) {
  const auto slots_of = [topology = engine.topology,
                         self = engine.rank](stencil::Rank rank) -> std::uint32_t {
    if (rank < 0 || rank >= topology.size()) return 0;
    const auto theirs = topology.neighbours(rank);
    const bool ours = std::ranges::find(theirs, self) != theirs.end();
    return ours ? static_cast<std::uint32_t>(theirs.size()) : 0;
  };
  try {
    return std::make_unique<stencil::UnixMeeting>(layout, engine.rank, segment, slots_of, log);
  } catch (const ConfigError& error) {
    log(stencil::LogLevel::kInfo, std::string("no shared memory: ") + error.what());
    return nullptr;
  }
}

}  // namespace fast
