#include "stencil/transport/zmq/zmq_dialled.h"

#include <algorithm>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {
namespace {

std::span<const std::byte> bytes_of(const PublicKey& key) {
  return std::as_bytes(std::span(key.bytes));
}

zmq::const_buffer buffer_of(std::span<const std::byte> bytes) {
  return zmq::const_buffer(bytes.data(), bytes.size());
}

}  // namespace

ZmqDialled::ZmqDialled(ZmqShared& shared, LinkId id, const PeerAddress& address)
    : shared_(shared),
      id_(id),
      endpoint_(parse_endpoint(address.endpoint, true, kZmqSchemes)),
      literal_(literal_addresses(endpoint_)),
      key_(address.key),
      backoff_(shared.options),
      alarm_(shared.loop, [this] { attempt(); }),
      outgoing_(std::max<std::size_t>(shared.options.queue_frames, 1), shared.room) {
  check_key(address, shared_.keys != nullptr);
  heed_keys(false);
  attempt();
}

ZmqDialled::~ZmqDialled() {
  shared_.ready.remove(*this);
  if (!port_) return;
  hear_monitor();
  if (connected_ && !ended_) {
    outgoing_.hand_on_all(port_->socket);
  } else {
    drop_unsent();
  }
}

/// libzmq would wait for a connection with what it has taken and not sent.
void ZmqDialled::drop_unsent() {
  port_->socket.set(zmq::sockopt::linger, 0);
}

void ZmqDialled::attempt() {
  if (!literal_.empty()) return connect(literal_);
  try {
    lookup_.emplace(shared_.options, endpoint_,
                    [this](const std::vector<Address>& found) { connect(found); });
  } catch (const ResourceError&) {
    try_again();  // no thread to be had just now
  }
}

void ZmqDialled::connect(const std::vector<Address>& addresses) {
  if (addresses.empty()) return try_again();
  const Address& address = addresses[attempts_ % addresses.size()];
  try {
    port_.emplace(shared_, zmq::socket_type::dealer, *this);
    if (key_) {
      const KeyRing& keys = *shared_.keys;
      const std::span secret(keys.own_secret.bytes);
      const PublicKey asked = key_to_ask_for(keys, *key_, attempts_);
      port_->socket.set(zmq::sockopt::curve_publickey, buffer_of(bytes_of(keys.own_public)));
      port_->socket.set(zmq::sockopt::curve_secretkey, buffer_of(std::as_bytes(secret)));
      port_->socket.set(zmq::sockopt::curve_serverkey, buffer_of(bytes_of(asked)));
    }
    ++attempts_;
    port_->socket.connect(endpoint_.local ? "ipc://" + endpoint_.host : text_of(address, "tcp://"));
  } catch (const zmq::error_t&) {  // no descriptor to be had just now
    port_.reset();
    try_again();
  } catch (const ResourceError&) {
    port_.reset();
    try_again();
  }
}

void ZmqDialled::try_again() {
  alarm_.set_after(backoff_.pause(shared_.jitter));
}

void ZmqDialled::heed_keys(bool own_pair_changed) {
  if (!key_) return;
  rank_ = shared_.keys->rank_of(*key_);
  if (own_pair_changed || !rank_) abandon();
}

void ZmqDialled::abandon() {
  abandoned_ = port_.has_value();
  end();
}

bool ZmqDialled::look() {
  if (!meter_) return false;
  if (!meter_->look()) {
    meter_.reset();
    return false;
  }
  if (meter_->held() > most_held()) {
    shared_.ready.add(*this);
    shared_.noted();
  }
  return true;
}

std::size_t ZmqDialled::most_held() const {
  return stencil::most_held(shared_.options.max_frame_bytes, shared_.keys != nullptr);
}

SendStatus ZmqDialled::send(Frame&& frame) {
  if (!up_ || ended_) return SendStatus::kDown;
  const SendStatus status = outgoing_.push(std::move(frame));
  (void)hand_on();
  return status;
}

bool ZmqDialled::hand_on() {
  if (!connected_ || ended_) return false;
  const std::size_t before = outgoing_.size();
  (void)outgoing_.hand_on(port_->socket);
  // What has come may have been noticed in passing, and then its descriptor tells no more.
  if (outgoing_.size() < before) shared_.ready.add(*this);
  return outgoing_.has_room_again();
}

void ZmqDialled::hear_monitor() {
  while (const auto event = port_->next_event()) {
    switch (event->kind) {
      case ZMQ_EVENT_CONNECTED:
        meter_ = Meter::of(event->value, 0);
        shared_.look.set_after(ZmqShared::kLookEvery);
        bound_unsent_bytes(event->value);
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        connected_ = true;
        break;
      case ZMQ_EVENT_CLOSED:
      case ZMQ_EVENT_DISCONNECTED:
        end();
        break;
      case ZMQ_EVENT_CONNECT_RETRIED:
        passed_on_ = true;
        break;
      default:
        // Whoever is dialled for another key than its own has no word for it, and names it itself.
        if (stranger_of(*event, true) == Stranger::kRefusesUs && key_) {
          complain(shared_.options, Stranger::kRefusesUs, shared_.keys->own_public);
        }
        if (event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) ++shared_.stats.strangers;
    }
  }
}

void ZmqDialled::end() {
  ended_ = port_.has_value();
  if (ended_) shared_.ready.add(*this);
}

Received ZmqDialled::event(LinkEvent kind) const {
  return {.event = kind, .link = id_, .frame = {}, .proven = rank_};
}

/// The monitor tells of the end before libzmq has passed on the last frames. It has once it sets
/// out to connect again, or, where it does not, once the socket cannot be written to.
bool ZmqDialled::is_gone() const {
  const bool writable = (port_->socket.get(zmq::sockopt::events) & ZMQ_POLLOUT) != 0;
  return passed_on_ || !connected_ || !writable;
}

std::optional<Received> ZmqDialled::next_frame() {
  if (!up_) return std::nullopt;
  while (std::optional<Incoming> incoming = shared_.inbox.receive(port_->socket, false)) {
    if (meter_) meter_->heard(incoming->wire_bytes);
    if (!incoming->frame) {
      ++shared_.stats.strangers;
      complain(shared_.options, "no frames", endpoint_.text + kNoFrames);
      abandon();
      return std::nullopt;
    }
    backoff_.restart();
    shared_.ready.add(*this);
    Received received = event(LinkEvent::kFrame);
    received.frame = std::move(*incoming->frame);
    return received;
  }
  return std::nullopt;
}

std::optional<Received> ZmqDialled::next() {
  if (!port_) return std::nullopt;
  hear_monitor();
  bool gone = abandoned_;
  // Lets the socket see what its descriptor tells of, which would go on telling.
  if (!up_) (void)port_->socket.get(zmq::sockopt::events);
  if (connected_ && !up_) {
    shared_.ready.add(*this);
    up_ = true;
    return event(LinkEvent::kUp);
  }
  do {
    if (std::optional<Received> received = next_frame()) return received;
    gone = gone || abandoned_;
  } while (!gone && ended_ && (gone = is_gone()));
  if (!gone && meter_ && meter_->held() > most_held()) {
    ++shared_.stats.strangers;
    complain(shared_.options, "endless message", endpoint_.text + kEndless);
    gone = true;
  }
  if (!gone) {
    port_->wait();
    return std::nullopt;
  }
  shared_.stats.discarded += outgoing_.size();
  outgoing_ = Outgoing(std::max<std::size_t>(shared_.options.queue_frames, 1), shared_.room);
  drop_unsent();
  port_.reset();
  meter_.reset();
  connected_ = ended_ = passed_on_ = abandoned_ = false;
  try_again();
  if (!std::exchange(up_, false)) return std::nullopt;
  return event(LinkEvent::kDown);
}

}  // namespace stencil
