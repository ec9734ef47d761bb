#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "stencil/threads/mutex.h"
#include "stencil/transport/inproc/inproc_transport.h"
#include "stencil/transport/proof.h"

namespace stencil {

/// The state behind InprocNetwork. Nodes belong to their transports, which enter and leave them;
/// what is in them is guarded by the mutex as the rest is.
///
/// Invariants, while the mutex is free:
///   1. A link's `peer` is null, or its `peer->links[peer_link]` points back at it.
///   2. What a link's queue holds arrives in that order: frames of an old connection, kDown, kUp,
///      frames of the new one. At most `bound` frames, and no two events side by side but
///      kDown, kUp.
///   3. A node's loop is woken whenever it has something more to receive, or a link of its own that
///      was full has room again.
///   4. Two nodes are connected only once each has proven its key to the other, or where neither
///      has keys.
class InprocNetwork::Impl {
 public:
  struct Node;

  struct Link {
    bool dialled = false;
    bool announced = false;  ///< the owner has seen the id: of an inbound link with its first frame
    bool wants_room = false;  ///< the owner found it full
    PeerAddress target;       ///< dialled; the endpoint without its scheme
    Node* peer = nullptr;
    LinkId peer_link = 0;
    PublicKey peer_key;  ///< proven when it was connected, where keys are in use
    std::deque<Received> queue;
    std::size_t frames = 0;  ///< of the queue
    std::uint64_t last_used = 0;
  };

  struct Node {
    std::string name;           ///< empty: nobody can dial it
    EventLoop* loop = nullptr;  ///< null: its owner knows when to receive
    std::size_t bound = 0;
    std::size_t max_frame_bytes = 0;
    std::size_t max_links = 0;
    KeySource keys;
    std::shared_ptr<const KeyRing> ring;    ///< as of the last receive(); null: no keys
    std::map<Stranger, PublicKey> refused;  ///< the last of each kind that is not told of yet
    std::map<LinkId, Link> links;
    LinkId last_link = 0;
    LinkId turn = 0;  ///< the link served last
    std::uint64_t uses = 0;
    TransportStats stats;
  };

  /// Connects everybody who has dialled its name. Throws ConfigError when it is taken.
  void enter(Node& node, const std::string& listen);
  void leave(Node& node);

  [[nodiscard]] LinkId dial(Node& node, const PeerAddress& address);
  void drop(Node& node, LinkId id);
  [[nodiscard]] SendStatus send(Node& node, LinkId id, Frame& frame);
  [[nodiscard]] std::optional<Received> receive(Node& node);
  [[nodiscard]] TransportStats stats(const Node& node);
  /// Node::refused, and forgets them.
  [[nodiscard]] std::map<Stranger, PublicKey> take_refused(Node& node);

 private:
  void connect_all_to(const Node& node) FAST_REQUIRES(mutex_);
  /// Connects the link where its target is there and both prove their keys.
  void try_to_connect(Node& dialler, LinkId id) FAST_REQUIRES(mutex_);
  void connect(Node& dialler, LinkId id, Node& listener) FAST_REQUIRES(mutex_);
  /// Takes over keys that have been replaced: a new pair of the node's own ends all connections.
  void look_at_keys(Node& node) FAST_REQUIRES(mutex_);
  /// The link's own end of a connection breaks: kDown for whoever held the link, its peer told.
  void disconnect(Node& node, LinkId id) FAST_REQUIRES(mutex_);
  void push_event(Node& node, LinkId id, LinkEvent event) FAST_REQUIRES(mutex_);
  void evict_oldest_inbound(Node& node) FAST_REQUIRES(mutex_);
  void signal(Node& node);
  Node* find(const std::string& name) FAST_REQUIRES(mutex_);

  Mutex mutex_;
  std::set<Node*> nodes_ FAST_GUARDED_BY(mutex_);
  std::uint64_t names_given_ FAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace stencil
