#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/frame.h"
#include "stencil/core/peer_address.h"
#include "stencil/mix/edge_codec.h"
#include "stencil/neighbour/neighbours.h"
#include "stencil/runtime/distances.h"

namespace stencil {

/// The connection that serves the edge, and what waits for it.
struct Connection {
  LinkId in_service = 0;     ///< 0: none
  LinkId dialled = 0;        ///< by us; 0: none
  PeerAddress address;       ///< of `dialled`; or the one that cannot be dialled
  TimePoint dialled_at{};    ///< `address`
  bool undiallable = false;  ///< `address`, which was named in the log
  TimePoint lost_since{};
  TimePoint complain_at{};
  bool paused = false;  ///< their latest Leave said that they intend to come back
  TimePoint closes{};   ///< when a retired edge is closed; its Leave is still on the way
  /// Frames that the link has no room for now. The windows bound offers and replies; for the rest,
  /// see Outbox.
  std::vector<Frame> backlog;
  /// Of the latest message: the sender's and the receiver's.
  std::pair<std::uint32_t, std::uint32_t> epochs{};
  std::uint64_t bytes_sent = 0;
};

/// Their memory, where it can be reached.
struct SharedMemory {
  std::string token;        ///< their latest, see Meeting::token()
  std::uint64_t bytes = 0;  ///< bytes of the model that we averaged there
};

/// All that the runtime keeps of one neighbour; made and destroyed with the edge. What the engine
/// keeps of it, `neighbour`, must outlive this and can only be read. Plain data; each part is
/// changed by the class of runtime/ that decides about it. Background thread.
struct Edge {
  explicit Edge(const Neighbour& of) : neighbour(of) {}

  const Neighbour& neighbour;
  Connection link;
  SharedMemory memory;
  Distances distances;
  std::unique_ptr<EdgeCodec> codec;

  [[nodiscard]] Rank rank() const { return neighbour.rank; }
};

/// By rank. An Edge keeps its address until it is removed.
using Edges = std::map<Rank, Edge>;

/// Those of all `neighbours`.
[[nodiscard]] inline Edges edges_of(const Neighbours& neighbours) {
  Edges edges;
  for (const Neighbour& neighbour : neighbours) edges.try_emplace(neighbour.rank, neighbour);
  return edges;
}

}  // namespace stencil
