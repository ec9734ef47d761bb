#include "stencil/transport/inproc/inproc_network.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"

namespace stencil {
namespace {

constexpr std::string_view kScheme = "inproc://";
/// Room beyond a full link for these.
constexpr std::size_t kUrgentFrames = 16;

std::string name_of(const std::string& endpoint) {
  if (!endpoint.starts_with(kScheme))
    throw ConfigError("'" + endpoint + "' is no endpoint inside this process", "use inproc://NAME");
  return endpoint.substr(kScheme.size());
}

/// Why the listener refuses the dialler; nothing where both prove who they are.
std::optional<Stranger> stranger(const KeyRing* dialler, const std::optional<PublicKey>& dialled,
                                 const KeyRing* listener) {
  if (dialler == nullptr && listener == nullptr) return std::nullopt;
  if (listener == nullptr) return Stranger::kWantsKey;
  if (dialler == nullptr) return Stranger::kNoKey;
  if (dialled != listener->own_public) return Stranger::kWrongDial;
  if (!listener->rank_of(dialler->own_public)) return Stranger::kUnknownKey;
  return std::nullopt;
}

}  // namespace

InprocNetwork::InprocNetwork() : impl_(std::make_unique<Impl>()) {}
InprocNetwork::~InprocNetwork() = default;

void InprocNetwork::Impl::enter(Node& node, const std::string& listen) {
  const MutexLock lock(mutex_);
  if (!listen.empty()) {
    node.name = name_of(listen);
    while (node.name.empty() || (node.name == "*")) {
      std::string given = "node-" + std::to_string(++names_given_);
      if (find(given) == nullptr) node.name = std::move(given);
    }
    if (find(node.name) != nullptr)
      throw NetworkError("cannot listen on '" + listen + "': the name is in use",
                         "choose another name, or inproc:// for one handed out");
  }
  nodes_.insert(&node);
  if (node.keys) node.ring = node.keys();
  if (!node.name.empty()) connect_all_to(node);
}

void InprocNetwork::Impl::connect_all_to(const Node& node) {
  for (Node* other : nodes_) {
    for (const auto& [id, link] : other->links) {
      if (link.dialled && link.target.endpoint == node.name) try_to_connect(*other, id);
    }
  }
}

void InprocNetwork::Impl::leave(Node& node) {
  const MutexLock lock(mutex_);
  nodes_.erase(&node);
  std::vector<LinkId> ids;
  for (const auto& entry : node.links) ids.push_back(entry.first);
  for (const LinkId id : ids) disconnect(node, id);
  node.links.clear();
}

LinkId InprocNetwork::Impl::dial(Node& node, const PeerAddress& address) {
  const std::string name = name_of(address.endpoint);
  if (name.empty()) {
    throw ConfigError("cannot dial '" + address.endpoint + "'", "name who shall answer");
  }
  check_key(address, node.ring != nullptr);
  const MutexLock lock(mutex_);
  const LinkId id = ++node.last_link;
  Link& link = node.links[id];
  link.dialled = link.announced = true;
  link.target = {name, address.key};
  try_to_connect(node, id);
  return id;
}

void InprocNetwork::Impl::drop(Node& node, LinkId id) {
  const MutexLock lock(mutex_);
  const auto found = node.links.find(id);
  if (found == node.links.end()) return;
  Link& link = found->second;
  if (link.dialled || link.peer == nullptr) {
    disconnect(node, id);
    node.links.erase(id);
    return;
  }
  // Who has dialled stays connected, as with every transport: its next frame opens a new link.
  Node& dialler = *link.peer;
  const LinkId dialler_link = link.peer_link;
  const PublicKey proven = link.peer_key;
  node.stats.discarded += link.frames;
  node.links.erase(found);
  const LinkId fresh = ++node.last_link;
  node.links[fresh].peer = &dialler;
  node.links[fresh].peer_link = dialler_link;
  node.links[fresh].peer_key = proven;
  dialler.links.at(dialler_link).peer_link = fresh;
  signal(dialler);
}

SendStatus InprocNetwork::Impl::send(Node& node, LinkId id, Frame& frame) {
  const std::size_t bytes = frame.header.size() + view(frame.payload).size();
  const std::size_t payload = view(frame.payload).size();
  if (frame.header.size() > kMaxHeaderBytes || payload > node.max_frame_bytes)
    throw InvariantError("a frame of " + std::to_string(bytes) + " bytes is over max_frame_bytes");
  const MutexLock lock(mutex_);
  const auto found = node.links.find(id);
  if (found == node.links.end() || found->second.peer == nullptr) return SendStatus::kDown;
  Link& link = found->second;
  // What the owner has not been told yet has not happened for it.
  if (link.queue.size() != link.frames) return SendStatus::kDown;
  Node& peer = *link.peer;
  if (payload > peer.max_frame_bytes) {
    ++peer.stats.strangers;
    frame = Frame{};
    disconnect(node, id);
    if (link.dialled) try_to_connect(node, id);
    return SendStatus::kSent;  // as on a wire: accepted here, refused there, the link breaks
  }
  Link& other = peer.links.at(link.peer_link);
  if (other.frames >= peer.bound + (frame.urgent ? kUrgentFrames : 0)) {
    link.wants_room = true;
    return SendStatus::kFull;
  }
  const auto place = place_in_line(other.queue, 0, frame,
                                   [](const Received& r) -> const Frame& { return r.frame; });
  other.queue.insert(place, {LinkEvent::kFrame, link.peer_link, std::move(frame)});
  ++other.frames;
  frame = Frame{};
  link.last_used = ++node.uses;
  ++node.stats.frames_sent;
  node.stats.bytes_sent += bytes;
  signal(peer);
  return SendStatus::kSent;
}

std::optional<Received> InprocNetwork::Impl::receive(Node& node) {
  const MutexLock lock(mutex_);
  look_at_keys(node);
  auto at = node.links.upper_bound(node.turn);
  for (std::size_t tried = 0; tried < node.links.size(); ++tried, ++at) {
    if (at == node.links.end()) at = node.links.begin();
    Link& link = at->second;
    if (link.queue.empty()) continue;
    Received received = std::move(link.queue.front());
    link.queue.pop_front();
    node.turn = at->first;
    if (node.ring) received.proven = node.ring->rank_of(link.peer_key);
    if (received.event == LinkEvent::kFrame) {
      --link.frames;
      link.announced = true;
      link.last_used = ++node.uses;
      ++node.stats.frames_received;
      node.stats.bytes_received +=
          received.frame.header.size() + view(received.frame.payload).size();
      if (link.peer != nullptr) {
        Link& other = link.peer->links.at(link.peer_link);
        if (std::exchange(other.wants_room, false)) signal(*link.peer);
      }
    } else if (received.event == LinkEvent::kDown && !link.dialled) {
      node.links.erase(at);
    }
    return received;
  }
  return std::nullopt;
}

std::map<Stranger, PublicKey> InprocNetwork::Impl::take_refused(Node& node) {
  const MutexLock lock(mutex_);
  return std::exchange(node.refused, {});
}

TransportStats InprocNetwork::Impl::stats(const Node& node) {
  const MutexLock lock(mutex_);
  return node.stats;
}

void InprocNetwork::Impl::look_at_keys(Node& node) {
  if (!node.keys) return;
  std::shared_ptr<const KeyRing> now = node.keys();
  if (now == node.ring) return;
  const bool replaced = node.ring->own_public != now->own_public;
  node.ring = std::move(now);
  std::vector<LinkId> ids;
  for (const auto& entry : node.links) ids.push_back(entry.first);
  for (const LinkId id : ids) {
    if (replaced) disconnect(node, id);
    if (const auto at = node.links.find(id); at != node.links.end() && at->second.dialled) {
      try_to_connect(node, id);
    }
  }
  if (!node.name.empty()) connect_all_to(node);
}

void InprocNetwork::Impl::try_to_connect(Node& dialler, LinkId id) {
  Link& link = dialler.links.at(id);
  Node* const listener = find(link.target.endpoint);
  if (link.peer != nullptr || listener == nullptr) return;
  const auto refused = stranger(dialler.ring.get(), link.target.key, listener->ring.get());
  if (!refused) return connect(dialler, id, *listener);
  ++listener->stats.strangers;
  const KeyRing* const named = (*refused == Stranger::kUnknownKey ? dialler : *listener).ring.get();
  listener->refused[*refused] = named == nullptr ? PublicKey{} : named->own_public;
  signal(*listener);
}

void InprocNetwork::Impl::connect(Node& dialler, LinkId id, Node& listener) {
  if (listener.links.size() >= listener.max_links) evict_oldest_inbound(listener);
  const LinkId inbound = ++listener.last_link;
  listener.links[inbound].peer = &dialler;
  listener.links[inbound].peer_link = id;
  if (dialler.ring) listener.links[inbound].peer_key = dialler.ring->own_public;
  Link& link = dialler.links.at(id);
  link.peer = &listener;
  link.peer_link = inbound;
  if (link.target.key) link.peer_key = *link.target.key;
  push_event(dialler, id, LinkEvent::kUp);
}

void InprocNetwork::Impl::disconnect(Node& node, LinkId id) {
  Link& link = node.links.at(id);
  if (link.peer == nullptr) return;
  Node& peer = *link.peer;
  const LinkId peer_link = link.peer_link;
  link.peer = peer.links.at(peer_link).peer = nullptr;
  push_event(node, id, LinkEvent::kDown);
  push_event(peer, peer_link, LinkEvent::kDown);
}

void InprocNetwork::Impl::push_event(Node& node, LinkId id, LinkEvent event) {
  Link& link = node.links.at(id);
  if (event == LinkEvent::kDown && !link.announced && link.queue.empty()) {
    node.links.erase(id);  // its owner never knew of it
    return;
  }
  if (event == LinkEvent::kDown && !link.queue.empty() && link.queue.back().event == LinkEvent::kUp)
    link.queue.pop_back();  // up and down again before anybody knew
  else
    link.queue.push_back({event, id, {}});
  signal(node);
}

void InprocNetwork::Impl::evict_oldest_inbound(Node& node) {
  auto oldest = node.links.end();
  for (auto at = node.links.begin(); at != node.links.end(); ++at) {
    if (at->second.dialled || at->second.peer == nullptr) continue;
    if (oldest == node.links.end() || at->second.last_used < oldest->second.last_used) oldest = at;
  }
  if (oldest != node.links.end()) disconnect(node, oldest->first);
}

void InprocNetwork::Impl::signal(Node& node) {
  if (node.loop != nullptr) node.loop->wake();
}

InprocNetwork::Impl::Node* InprocNetwork::Impl::find(const std::string& name) {
  for (Node* node : nodes_) {
    if (node->name == name) return node;
  }
  return nullptr;
}

}  // namespace stencil
