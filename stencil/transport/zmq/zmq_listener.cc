#include "stencil/transport/zmq/zmq_listener.h"

#include <fcntl.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// In place of the link of a connection that is open and whose link is forgotten.
constexpr LinkId kForgotten = 0;
/// A worker has one or two links with another, and some more where they break often and their ends
/// are not heard of yet.
constexpr std::size_t kMostOfOneKey = 64;
/// Who speaks to us with sense is answered: to a stranger that says one thing we say one at most.
constexpr std::uint64_t kSentToNeighbours = 2;
/// More wait for the next turn: a flood of them keeps this thread from nothing else.
constexpr int kMostEvents = 1024;
constexpr Duration kListenAgain = std::chrono::milliseconds(500);
constexpr Duration kWithoutDescriptors = std::chrono::seconds(1);

}  // namespace

ZmqListener::ZmqListener(ZmqShared& shared)
    : shared_(shared),
      listener_(shared.options.listen, kZmqSchemes, shared.options.packet_bytes),
      door_(listener_.descriptor(), *shared.hangup,
            DoorBounds::of(shared.options.max_frame_bytes, shared.keys != nullptr)),
      again_(shared.loop, [this] { listen_anew(); }) {
  listen();
}

ZmqListener::~ZmqListener() {
  shared_.ready.remove(*this);
  for (auto& [id, link] : links_) link.outgoing.hand_on_all(port_->socket, link.sender);
}

/// The listening socket stays ours; libzmq closes the copy that it is given.
void ZmqListener::listen() {
  try {
    port_.emplace(shared_, zmq::socket_type::router, *this);
    zmq::socket_t& socket = port_->socket;
    if (shared_.keys) {
      const std::span secret(shared_.keys->own_secret.bytes);
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, zmq::const_buffer(secret.data(), secret.size()));
    }
    Descriptor copy(::fcntl(listener_.descriptor(), F_DUPFD_CLOEXEC, 0));
    socket.set(zmq::sockopt::use_fd, copy.get());
    socket.bind(listener_.local() ? "ipc://" + endpoint().substr(endpoint().find('/') + 2)
                                  : "tcp://127.0.0.1:0");
    copy.release();
  } catch (const zmq::error_t& error) {
    throw NetworkError("cannot listen on '" + shared_.options.listen + "': " + error.what(),
                       "raise the limit of open files (ulimit -n)");
  }
}

void ZmqListener::listen_anew() {
  try {
    listen();
    return;
  } catch (const ConfigError& error) {
    complain(shared_.options, "listen",
             std::string("cannot listen with the new key: ") + error.what() + "; trying again");
  }
  port_.reset();
  again_.set_after(kListenAgain);
}

void ZmqListener::heed_keys(bool own_pair_changed) {
  std::vector<LinkId> withdrawn;
  for (auto& [id, link] : links_) {
    link.rank = link.key ? shared_.keys->rank_of(*link.key) : std::nullopt;
    if (link.key && !link.rank) withdrawn.push_back(id);
  }
  if (!own_pair_changed) {
    for (const LinkId link : withdrawn) {
      door_.hang_up(links_.at(link).connection);
      end(link);
    }
    return;
  }
  while (!links_.empty()) end(links_.begin()->first);
  by_connection_.clear();
  closed_.clear();
  door_.clear();
  port_.reset();
  listen_anew();
}

SendStatus ZmqListener::send(LinkId link, Frame&& frame) {
  Link& to = links_.at(link);
  const SendStatus status = to.outgoing.push(std::move(frame));
  if (status == SendStatus::kSent) {
    to.last_used = ++uses_;
    if (++to.sent == kSentToNeighbours) door_.trust(to.connection);
  }
  (void)to.outgoing.hand_on(port_->socket, to.sender);
  // What has come may have been noticed in passing, and then its descriptor tells no more.
  shared_.ready.add(*this);
  return status;
}

bool ZmqListener::hand_on() {
  bool room = false;
  for (auto& [id, link] : links_) {
    const std::size_t before = link.outgoing.size();
    (void)link.outgoing.hand_on(port_->socket, link.sender);
    if (link.outgoing.size() < before) shared_.ready.add(*this);  // as in send()
    room = link.outgoing.has_room_again() || room;
  }
  return room;
}

bool ZmqListener::idle() const {
  return std::ranges::all_of(links_,
                             [](const auto& entry) { return entry.second.outgoing.size() == 0; });
}

void ZmqListener::drop(LinkId link) {
  std::erase(down_, link);
  const auto known = links_.find(link);
  if (known == links_.end()) return;
  known->second.outgoing.hand_on_all(port_->socket, known->second.sender);
  forget(known);
}

void ZmqListener::hear_monitor(bool anyway) {
  for (int i = 0; i < kMostEvents; ++i) {
    const auto event = port_->next_event(anyway);
    if (!event) return;
    switch (event->kind) {
      case ZMQ_EVENT_ACCEPTED:
        came(event->value);
        bound_unsent_bytes(event->value);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        closed_.emplace(event->value, false);
        door_.left(event->value);
        break;
      case ZMQ_EVENT_ACCEPT_FAILED:
        ++shared_.stats.strangers;
        door_.shut_until(shared_.loop.now() + kWithoutDescriptors);
        shared_.look.set_after(ZmqShared::kLookSoon);
        break;
      default:
        const auto why = stranger_of(*event, false);
        if (why && shared_.keys) complain(shared_.options, *why, shared_.keys->own_public);
        if (why == Stranger::kNoKey && !shared_.keys) {
          complain(shared_.options, Stranger::kWantsKey, {});
        }
    }
  }
  shared_.ready.add(*this);
}

void ZmqListener::came(int connection) {
  // The descriptor has a new connection.
  const bool anew = closed_.erase(connection) > 0;
  if (anew) end_connection(connection);
  // Its first frame may have come before word of it.
  if (anew || !by_connection_.contains(connection) || !door_.knows(connection)) {
    let_in(connection);
  }
}

void ZmqListener::let_in(int connection) {
  if (door_.empty()) shared_.look.set_after(ZmqShared::kLookEvery);
  door_.came(shared_.loop.now(), connection);
  if (door_.shut()) shared_.look.set_after(ZmqShared::kLookSoon);
}

Duration ZmqListener::look() {
  look_over_ = door_.look(shared_.loop.now());
  if (look_over_) {
    shared_.ready.add(*this);
    shared_.noted();
  }
  say_why();
  if (look_over_ || door_.shut()) return ZmqShared::kLookSoon;
  return door_.empty() ? Duration::max() : ZmqShared::kLookEvery;
}

void ZmqListener::say_why() {
  const Door::Sent now = door_.sent();
  if (now.crowded > logged_.crowded) {
    complain(
        shared_.options, "crowd",
        "as many have connected as may before they have shown that they are workers; newcomers "
        "wait, and those that show nothing are hung up on");
  }
  if (now.silent > logged_.silent) {
    complain(shared_.options, "silent", "whoever connected and said nothing was hung up on");
  }
  if (now.endless > logged_.endless) {
    complain(shared_.options, "endless message", std::string("whoever dialled us") + kEndless);
  }
  logged_ = now;
}

std::optional<Received> ZmqListener::next() {
  if (port_) hear_monitor();
  if (!down_.empty()) {
    shared_.ready.add(*this);
    const LinkId link = down_.front();
    down_.pop_front();
    return Received{.event = LinkEvent::kDown, .link = link, .frame = {}};
  }
  if (!port_) return std::nullopt;
  do {
    if (std::optional<Received> received = next_frame()) return received;
  } while (another_is_gone());
  if (std::exchange(look_over_, false)) {
    door_.judge();
    say_why();
  }
  for (auto it = closed_.begin(); it != closed_.end();) {
    const auto [connection, gone] = *it++;
    if (!gone) continue;
    closed_.erase(connection);
    end_connection(connection);
  }
  port_->wait();
  return std::nullopt;
}

bool ZmqListener::another_is_gone() {
  if (closed_.empty()) return false;
  // Lets the socket see all that its descriptor has told of; is_gone() sees nothing beyond.
  (void)port_->socket.get(zmq::sockopt::events);
  bool another = false;
  for (auto& [connection, gone] : closed_) {
    if (gone) continue;
    const auto known = by_connection_.find(connection);
    const auto link = known == by_connection_.end() ? links_.end() : links_.find(known->second);
    gone = link == links_.end() || Outgoing::is_gone(port_->socket, link->second.sender);
    another = another || gone;
  }
  return another;
}

std::optional<Received> ZmqListener::next_frame() {
  while (std::optional<Incoming> incoming = shared_.inbox.receive(port_->socket, true)) {
    if (!incoming->frame) {
      refuse(*incoming);
      continue;
    }
    const LinkId id = link_of(incoming->sender);
    Link& link = links_.at(id);
    door_.heard(link.connection, incoming->wire_bytes);
    link.last_used = ++uses_;
    shared_.ready.add(*this);
    return Received{.event = LinkEvent::kFrame,
                    .link = id,
                    .frame = std::move(*incoming->frame),
                    .proven = link.rank};
  }
  return std::nullopt;
}

void ZmqListener::refuse(const Incoming& incoming) {
  ++shared_.stats.strangers;
  complain(shared_.options, "no frames", std::string("whoever dialled us") + kNoFrames);
  const auto known = by_sender_.find(incoming.sender);
  if (known != by_sender_.end()) return door_.hang_up(links_.at(known->second).connection);
  const int connection = shared_.inbox.connection();
  hear_monitor(true);
  door_.hang_up(connection);
  by_connection_.emplace(connection, kForgotten);  // it is counted already
}

/// A new one where the sender had none.
LinkId ZmqListener::link_of(const std::string& sender) {
  if (const auto known = by_sender_.find(sender); known != by_sender_.end()) return known->second;
  const int connection = shared_.inbox.connection();
  hear_monitor(true);
  const auto before = by_connection_.find(connection);
  if (before != by_connection_.end() && before->second != kForgotten) end_connection(connection);
  if (links_.size() >= std::max<std::size_t>(shared_.options.max_links, 1)) {
    const auto oldest = std::ranges::min_element(
        links_, {}, [](const auto& entry) { return entry.second.last_used; });
    end(oldest->first);
  }
  const LinkId id = ++shared_.last_link;
  const std::optional<PublicKey> key = parse_public_key(shared_.inbox.user());
  links_.emplace(
      id, Link{.sender = sender,
               .connection = connection,
               .key = key,
               .rank = key && shared_.keys ? shared_.keys->rank_of(*key) : std::nullopt,
               .last_used = 0,
               .sent = 0,
               .outgoing =
                   Outgoing(std::max<std::size_t>(shared_.options.queue_frames, 1), shared_.room)});
  by_sender_.emplace(sender, id);
  if (connection >= 0) by_connection_[connection] = id;
  if (!door_.knows(connection)) let_in(connection);
  if (key) bound_links_of(*key);
  if (links_.at(id).rank) {
    door_.trust(connection);
  } else if (shared_.keys) {
    door_.hang_up(connection);  // its key was withdrawn after the handshake
  }
  return id;
}

void ZmqListener::bound_links_of(const PublicKey& key) {
  const auto has_it = [&](const auto& entry) { return entry.second.key == key; };
  if (static_cast<std::size_t>(std::ranges::count_if(links_, has_it)) <= kMostOfOneKey) return;
  auto oldest = links_.end();
  for (auto it = links_.begin(); it != links_.end(); ++it) {
    // The newest has not been used yet.
    if (!has_it(*it) || it->second.last_used == 0) continue;
    if (oldest == links_.end() || it->second.last_used < oldest->second.last_used) oldest = it;
  }
  if (oldest == links_.end()) return;
  complain(shared_.options, "many links",
           "one key has more links with us than a worker needs; the oldest end");
  door_.hang_up(oldest->second.connection);
  end(oldest->first);
}

void ZmqListener::end_connection(int connection) {
  const auto known = by_connection_.find(connection);
  if (known == by_connection_.end()) {
    ++shared_.stats.strangers;
    return;
  }
  if (known->second != kForgotten) end(known->second);
  by_connection_.erase(connection);
}

void ZmqListener::end(LinkId link) {
  down_.push_back(link);
  forget(links_.find(link));
  shared_.ready.add(*this);
}

void ZmqListener::forget(Links::iterator link) {
  shared_.stats.discarded += link->second.outgoing.size();
  by_sender_.erase(link->second.sender);
  // Until its end the connection stays known as no stranger's.
  if (link->second.connection >= 0) by_connection_[link->second.connection] = kForgotten;
  links_.erase(link);
}

}  // namespace stencil
