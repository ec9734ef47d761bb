#include "stencil/transport/stream/dialler.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {
namespace {

constexpr Duration kConnectPatience = std::chrono::seconds(5);

}  // namespace

void Dialler::dial(LinkId id, const PeerAddress& address) {
  auto owner = std::make_unique<Dialled>();
  Dialled& d = *owner;
  d.endpoint = parse_endpoint(address.endpoint, true);
  d.literal = literal_addresses(d.endpoint);
  d.key = address.key;
  d.id = id;
  d.backoff.emplace(options_);
  d.alarm.emplace(loop_of(options_), [this, &d] {
    if (d.peer == nullptr) return attempt(d);
    events_.late(*d.peer);
  });
  all_.push_back(std::move(owner));
  attempt(d);
}

Dialled* Dialler::find(LinkId link) const {
  const auto found = std::ranges::find(all_, link, [](const auto& dialled) { return dialled->id; });
  return found == all_.end() ? nullptr : found->get();
}

void Dialler::erase(const Dialled& dialled) {
  all_.erase(std::ranges::find(all_, &dialled, [](const auto& one) { return one.get(); }));
}

void Dialler::attempt(Dialled& d) {
  if (!d.literal.empty()) return connect(d, d.literal);
  try {
    d.lookup.emplace(options_, d.endpoint,
                     [this, &d](const std::vector<Address>& found) { connect(d, found); });
  } catch (const ResourceError&) {
    try_again(d);  // no thread to be had just now
  }
}

void Dialler::connect(Dialled& d, const std::vector<Address>& addresses) {
  if (addresses.empty()) return try_again(d);
  const Address& address = addresses[d.attempts++ % addresses.size()];
  const int socket =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return try_again(d);
  Descriptor owner(socket);
  bound_packets(socket, options_.packet_bytes);
  const bool done = ::connect(socket, address.get(), address.size) == 0;
  if (!done && errno != EINPROGRESS) return try_again(d);
  events_.socket(d, std::move(owner),
                 done ? Connection::State::kOpen : Connection::State::kConnecting);
  d.alarm->set_after(kConnectPatience);
}

void Dialler::try_again(Dialled& d) {
  d.alarm->set_after(d.backoff->pause(jitter_));
}

}  // namespace stencil
