#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/option_field.h"
#include "stencil/engine/config.h"

namespace stencil {

/// The bounds of a worker's queues, which all follow from its window. Peers may have others.
struct Bounds {
  std::uint32_t window = 0, window_total = 0, retained_total = 0, most_held = 0;  ///< EngineConfig
  std::size_t payloads = 0;                            ///< see PayloadForms
  std::size_t queue_frames = 0, partial_payloads = 0;  ///< see TransportOptions
  std::size_t recording = 0;                           ///< see Journal::Keep; where there is one

  /// Sets those that are the engine's.
  void apply_to(EngineConfig& engine) const;
};

/// Without a budget: the widest that ever helped. Of memory they bound little.
[[nodiscard]] Bounds usual_bounds(std::uint32_t window);
/// With one: such that all that a neighbour within its window may send has room, and no more. A
/// recording keeps the least that is worth it.
[[nodiscard]] Bounds tight_bounds(std::uint32_t window, std::size_t neighbours);

struct MemoryPart {
  std::string_view what;
  std::size_t bytes = 0;
};

/// What decides how much a worker's exchange takes beside its model, x. Bytes but for the counts.
struct Footprint {
  std::size_t floats = 0, buckets = 0, neighbours = 0;
  std::size_t payload = 0;           ///< the largest
  std::size_t codec = 0;             ///< what it keeps of one neighbour
  std::size_t copy = 0;              ///< of a framework's values of another type, or on a device
  std::size_t carried = 0;           ///< what newcomers take over beside the values
  std::size_t checkpoint = 0;        ///< its copy of the state
  bool records = false;              ///< what the engine saw
  bool sets_aside = true;            ///< for followers: not in lock step
  bool takes_initial = true;         ///< may take over initial weights
  std::vector<MemoryPart> beside{};  ///< the exchange, and within the budget, too
};

/// All that the exchange may hold at once, part by part.
[[nodiscard]] std::vector<MemoryPart> memory_parts(const Footprint& footprint,
                                                   const Bounds& bounds);
[[nodiscard]] std::size_t sum(const std::vector<MemoryPart>& parts);

/// The bounds of the widest window, up to `window`, with which all parts are within `budget` bytes,
/// a recording taking what is left then;
/// usual_bounds() where it is 0. Throws ConfigError that spells out the sum, and the least that
/// would do, where not even a window of 1 is.
[[nodiscard]] Bounds bounds_within(std::size_t budget, const Footprint& footprint,
                                   std::uint32_t window, OptionNaming naming = as_field);

}  // namespace stencil
