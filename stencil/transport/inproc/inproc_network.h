#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "stencil/transport/inproc/inproc_transport.h"

namespace stencil {

/// The state behind InprocNetwork. Nodes belong to their transports, which enter and leave them.
///
/// Invariants, while the mutex is free:
///   1. A link's `peer` is null, or its `peer->links[peer_link]` points back at it.
///   2. What a link's queue holds arrives in that order: frames of an old connection, kDown, kUp,
///      frames of the new one. At most `bound` frames, and no two events side by side but
///      kDown, kUp.
///   3. A node's descriptor is readable if it may have something to receive, or if a link of its
///      own that was full has room again.
class InprocNetwork::Impl {
 public:
  struct Node;

  struct Link {
    bool dialled = false;
    bool announced = false;  ///< the owner has seen the id: of an inbound link with its first frame
    bool wants_room = false;  ///< the owner found it full
    std::string target;       ///< the name dialled
    Node* peer = nullptr;
    LinkId peer_link = 0;
    std::deque<Received> queue;
    std::size_t frames = 0;  ///< of the queue
    std::uint64_t last_used = 0;
  };

  struct Node {
    std::string name;  ///< empty: nobody can dial it
    int descriptor = -1;
    bool signalled = false;
    std::size_t bound = 0;
    std::size_t max_frame_bytes = 0;
    std::size_t max_links = 0;
    std::map<LinkId, Link> links;
    LinkId last_link = 0;
    LinkId turn = 0;  ///< the link served last
    std::uint64_t uses = 0;
    TransportStats stats;
  };

  /// Connects everybody who has dialled its name. Throws ConfigError when it is taken.
  void enter(Node& node, const std::string& listen);
  void leave(Node& node);

  [[nodiscard]] LinkId dial(Node& node, const std::string& target);
  void drop(Node& node, LinkId id);
  [[nodiscard]] SendStatus send(Node& node, LinkId id, Frame& frame);
  [[nodiscard]] std::optional<Received> receive(Node& node);
  [[nodiscard]] TransportStats stats(const Node& node);

 private:
  void connect(Node& dialler, LinkId id, Node& listener);
  /// The link's own end of a connection breaks: kDown for whoever held the link, its peer told.
  void disconnect(Node& node, LinkId id);
  void push_event(Node& node, LinkId id, LinkEvent event);
  void evict_oldest_inbound(Node& node);
  void signal(Node& node);
  Node* find(const std::string& name);

  std::mutex mutex_;
  std::set<Node*> nodes_;
  std::uint64_t names_given_ = 0;
};

}  // namespace stencil
