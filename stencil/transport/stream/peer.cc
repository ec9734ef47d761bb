#include "stencil/transport/stream/peer.h"

#include <algorithm>

#include "stencil/io/event_loop.h"

namespace stencil {

Peer& Peers::add(Descriptor&& socket, Connection::State state, std::unique_ptr<TlsChannel> tls) {
  auto owner =
      std::make_unique<Peer>(std::move(socket), state, options_, payloads_, std::move(tls));
  Peer& peer = *owner;
  peer.watch.emplace(
      loop_of(options_), peer.connection.descriptor(),
      [this, &peer] {
        peer.connection.on_readable();
        make_ready(peer);
        noted_();
      },
      [this, &peer] {
        if (peer.connection.on_writable()) loop_of(options_).ask();
        make_ready(peer);
        noted_();
      });
  all_.push_back(std::move(owner));
  make_ready(peer);
  noted_();
  return peer;
}

void Peers::erase(Peer& peer) {
  if (peer.ready) std::erase(ready_, &peer);
  std::erase(partial_, &peer);
  all_.erase(std::ranges::find(all_, &peer, &std::unique_ptr<Peer>::get));
}

Peer& Peers::take_ready() {
  Peer& peer = *ready_.front();
  ready_.erase(ready_.begin());
  peer.ready = false;
  return peer;
}

void Peers::wait_for(Peer& peer) {
  if (peer.connection.wants_readable()) peer.watch->wait_readable();
  if (peer.connection.wants_writable()) peer.watch->wait_writable();
}

Peer* Peers::one_partial_too_many(Peer& peer) {
  std::erase(partial_, &peer);
  if (!peer.connection.in_payload()) return nullptr;
  partial_.push_back(&peer);
  if (partial_.size() <= std::max<std::size_t>(options_.max_partial_payloads, 1)) return nullptr;
  const auto stranger = std::ranges::find(partial_, true, &Peer::stranger);
  return stranger == partial_.end() ? partial_.front() : *stranger;
}

Peer& Peers::longest_silent() const {
  const auto linkless = [](const auto& peer) {
    return peer->dialled == nullptr && peer->link == 0 ? peer->last_used : std::uint64_t(-1);
  };
  return **std::ranges::min_element(all_, {}, linkless);
}

}  // namespace stencil
