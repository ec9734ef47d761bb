#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Where a neighbour can be dialled now; nothing while that is unknown. Asked again and again, so
/// that a neighbour may come up later, or elsewhere. Must not block.
using Resolver = std::function<std::optional<std::string>(Rank)>;

/// Which connection serves which edge (Neighbour::link). One end of an edge suffices to dial; where
/// both did, the connection dialled by the higher rank stays, which both ends decide alike. One
/// thread.
class LinkBook {
 public:
  /// `neighbours` and `transport` must outlive this.
  LinkBook(Rank self, const Neighbours& neighbours, Transport& transport, Resolver resolver,
           LogSink log);

  /// Dials neighbours without a connection, at most once in `kDialEvery`, and names those that
  /// stay out of reach. Returns when to be called again.
  TimePoint tend(TimePoint now);

  /// Whose edge it serves; null where none's.
  [[nodiscard]] Neighbour* served_by(LinkId link) const;

  /// A link that we dialled is up. The neighbour it now serves; null where a better one stays.
  Neighbour* dialled_up(LinkId link);
  /// Whoever dialled us proved to be this neighbour. True when that link now serves the edge.
  bool accept(LinkId link, Neighbour& neighbour);
  /// The neighbour that just lost its link, if `link` was in service.
  Neighbour* down(LinkId link);
  /// The edge is to be removed: its connections end.
  void drop(Neighbour& neighbour);

  static constexpr Duration kDialEvery = std::chrono::milliseconds(500);
  static constexpr Duration kComplainAfter = std::chrono::seconds(5);
  static constexpr Duration kComplainAgain = std::chrono::seconds(30);

 private:
  void tend_to(TimePoint now, Neighbour& neighbour);
  void dial(Neighbour& neighbour, const std::string& endpoint);
  void hang_up(Neighbour& neighbour);
  void serve(Neighbour& neighbour, LinkId link);

  Rank self_;
  const Neighbours& neighbours_;
  Transport& transport_;
  Resolver resolver_;
  LogSink log_;
  std::unordered_map<LinkId, Neighbour*> served_, dialled_;  ///< whose a link is
  TimePoint next_dial_{};
};

}  // namespace stencil
