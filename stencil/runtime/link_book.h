#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/runtime/edge.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Returns the addresses at which a neighbour can be dialled now. Empty means unknown; several mean
/// that it may be at any of them, for example one for each key while its key is being replaced. It
/// is called repeatedly, so a neighbour may come up later, or elsewhere. It must not block.
using Resolver = std::function<std::vector<PeerAddress>(Rank)>;

/// Which connection serves which edge (Edge::link). It is enough that one end of an edge
/// dials. Where both did, both ends keep the connection that the higher rank dialled. One thread.
class LinkBook {
 public:
  /// `edges` and `transport` must outlive this.
  LinkBook(Rank self, Edges& edges, Transport& transport, Resolver resolver, LogSink log);

  /// Dials neighbours without a connection, at most once in `kDialEvery`, and names those that
  /// stay out of reach. Returns when to be called again.
  TimePoint tend(TimePoint now);

  /// The edge to the neighbour of this rank; null where it is none.
  [[nodiscard]] Edge* find(Rank rank) {
    const auto it = edges_.find(rank);
    return it == edges_.end() ? nullptr : &it->second;
  }
  /// The edge that `link` serves; null where it serves none.
  [[nodiscard]] Edge* served_by(LinkId link) const;

  /// The edge that we dialled `link` for; null where we did not dial it.
  [[nodiscard]] Edge* dialled_for(LinkId link) const;
  /// A link that we dialled is up. Returns the edge that it now serves; null where another
  /// link is kept instead.
  Edge* dialled_up(LinkId link);
  /// A link that was dialled to us belongs to `edge`. Returns true when it now serves it.
  bool accept(LinkId link, Edge& edge);
  /// Returns the edge that lost its link, if `link` was in service; else null.
  Edge* down(LinkId link);
  /// Closes the connections of an edge that is removed or no longer trusted.
  void drop(Edge& edge);

  static constexpr Duration kDialEvery = std::chrono::milliseconds(500);
  /// Where a neighbour has several addresses, each is tried for so long.
  static constexpr Duration kTryEach = std::chrono::seconds(4);
  static constexpr Duration kComplainAfter = std::chrono::seconds(5);
  static constexpr Duration kComplainAgain = std::chrono::minutes(1);

 private:
  void tend_to(TimePoint now, Edge& edge);
  void dial(TimePoint now, Edge& edge, const PeerAddress& address);
  void hang_up(Edge& edge);
  void serve(Edge& edge, LinkId link);

  Rank self_;
  Edges& edges_;
  Transport& transport_;
  Resolver resolver_;
  LogSink log_;
  std::unordered_map<LinkId, Edge*> served_, dialled_;  ///< the edge of each link
  TimePoint next_dial_{};
};

}  // namespace stencil
