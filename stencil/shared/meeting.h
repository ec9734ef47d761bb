#pragma once

#include <string>

#include "stencil/core/types.h"
#include "stencil/shared/segment.h"

namespace stencil {

/// How neighbours on one host come to map each other's segments. One thread; nothing blocks.
/// Whatever fails, the edge simply goes on over the transport.
class Meeting {
 public:
  virtual ~Meeting() = default;

  /// What our Hello tells neighbours of the way to our segment: opaque to everything between.
  [[nodiscard]] virtual const std::string& token() const = 0;

  /// The neighbour's Hello carried `token`. Tried once for each token; a new one (it restarted)
  /// ends what was shared under the old.
  virtual void meet(Rank rank, const std::string& token) = 0;

  /// The neighbour has left, is gone or restarted: its segment is unmapped.
  virtual void forget(Rank rank) = 0;

  /// Does what can be done now.
  virtual void poll() = 0;

  /// The neighbour's segment, once it is mapped; valid until the next call of another function.
  [[nodiscard]] virtual Segment* find(Rank rank) = 0;
};

}  // namespace stencil
