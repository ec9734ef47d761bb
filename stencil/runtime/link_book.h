#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/neighbour/neighbours.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Returns the addresses at which a neighbour can be dialled now. Empty means unknown; several mean
/// that it may be at any of them, for example one for each key while its key is being replaced. It
/// is called repeatedly, so a neighbour may come up later, or elsewhere. It must not block.
using Resolver = std::function<std::vector<PeerAddress>(Rank)>;

/// Which connection serves which edge (Neighbour::link). It is enough that one end of an edge
/// dials. Where both did, both ends keep the connection that the higher rank dialled. One thread.
class LinkBook {
 public:
  /// `neighbours` and `transport` must outlive this.
  LinkBook(Rank self, Neighbours& neighbours, Transport& transport, Resolver resolver, LogSink log);

  /// Dials neighbours without a connection, at most once in `kDialEvery`, and names those that
  /// stay out of reach. Returns when to be called again.
  TimePoint tend(TimePoint now);

  /// The neighbour of this rank; null where there is none.
  [[nodiscard]] Neighbour* find(Rank rank) { return neighbours_.find(rank); }
  /// The neighbour whose edge `link` serves; null where it serves none.
  [[nodiscard]] Neighbour* served_by(LinkId link) const;

  /// The neighbour that we dialled `link` for; null where we did not dial it.
  [[nodiscard]] Neighbour* dialled_for(LinkId link) const;
  /// A link that we dialled is up. Returns the neighbour that it now serves; null where another
  /// link is kept instead.
  Neighbour* dialled_up(LinkId link);
  /// A link that was dialled to us belongs to `neighbour`. Returns true when it now serves the
  /// edge.
  bool accept(LinkId link, Neighbour& neighbour);
  /// Returns the neighbour that lost its link, if `link` was in service; else null.
  Neighbour* down(LinkId link);
  /// Closes the connections of an edge that is removed or no longer trusted.
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
  Neighbours& neighbours_;
  Transport& transport_;
  Resolver resolver_;
  LogSink log_;
  std::unordered_map<LinkId, Neighbour*> served_, dialled_;  ///< the neighbour of each link
  TimePoint next_dial_{};
};

}  // namespace stencil
