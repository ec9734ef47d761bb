#pragma once

#include <string>

#include "stencil/core/types.h"
#include "stencil/shared/segment.h"

namespace stencil {

/// Lets neighbours on one host map each other's segments. One thread; nothing blocks. Where it
/// fails, the edge keeps using the transport.
class Meeting {
 public:
  virtual ~Meeting() = default;

  /// The text in our Hello by which a neighbour reaches our segment; opaque to all other code.
  [[nodiscard]] virtual const std::string& token() const = 0;

  /// The neighbour's Hello carried `token`. Each token is tried once. A new one (the neighbour
  /// restarted) ends the sharing under the old one.
  virtual void meet(Rank rank, const std::string& token) = 0;

  /// The neighbour has left, is gone or restarted: its segment is unmapped.
  virtual void forget(Rank rank) = 0;

  /// Makes progress where it can now.
  virtual void poll() = 0;

  /// The neighbour's segment, once it is mapped; valid until the next call of another function.
  [[nodiscard]] virtual Segment* find(Rank rank) = 0;
};

}  // namespace stencil
