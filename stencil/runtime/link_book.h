#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Where a neighbour can be dialled now; nothing while that is unknown, several addresses where it
/// may be at any of them, such as one for each key while its key is being replaced. Asked again and
/// again, so that a neighbour may come up later, or elsewhere. Must not block.
using Resolver = std::function<std::vector<PeerAddress>(Rank)>;

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

  /// Whom it was made for; null where it is no link that we dialled.
  [[nodiscard]] Neighbour* dialled_for(LinkId link) const;
  /// A link that we dialled is up. The neighbour it now serves; null where a better one stays.
  Neighbour* dialled_up(LinkId link);
  /// Whoever dialled us proved to be this neighbour. True when that link now serves the edge.
  bool accept(LinkId link, Neighbour& neighbour);
  /// The neighbour that just lost its link, if `link` was in service.
  Neighbour* down(LinkId link);
  /// Ends the connections of an edge that is to be removed, or that is no longer to be trusted.
  void drop(Neighbour& neighbour);

  static constexpr Duration kDialEvery = std::chrono::milliseconds(500);
  /// Where a neighbour has several addresses, each is tried for so long.
  static constexpr Duration kTryEach = std::chrono::seconds(4);
  static constexpr Duration kComplainAfter = std::chrono::seconds(5);
  static constexpr Duration kComplainAgain = std::chrono::seconds(30);

 private:
  void tend_to(TimePoint now, Neighbour& neighbour);
  void dial(TimePoint now, Neighbour& neighbour, const PeerAddress& address);
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
