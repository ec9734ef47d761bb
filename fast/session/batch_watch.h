#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stencil/runtime/pump_status.h"

namespace fast {

/// Notices a neighbour whose first batch was this worker's, too: the data were not shared out, and
/// both make the same steps. Reports one neighbour, once, and only one of a lower rank, so that of
/// two workers one speaks. One thread.
class BatchWatch {
 public:
  /// `hash`: of this worker's first batch; 0: not known. `rank`: this worker's.
  [[nodiscard]] std::optional<stencil::Rank> look(
      std::uint64_t hash, stencil::Rank rank,
      const std::vector<stencil::NeighbourStatus>& neighbours);
  /// A log line of worker `rank` that names the other one, cause and remedies.
  [[nodiscard]] static std::string advice(stencil::Rank rank, stencil::Rank other);

 private:
  bool told_ = false;
};

}  // namespace fast
