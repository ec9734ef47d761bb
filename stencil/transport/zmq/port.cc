#include "stencil/transport/zmq/port.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "stencil/transport/zmq/zap.h"

namespace stencil {
namespace {

constexpr int kUnsentBytes = 32 << 10;
constexpr int kConnectMilliseconds = 5'000;
constexpr int kNeverMilliseconds = 1'000'000'000;  // libzmq adds as much again, at random
/// A stranger who connects and says nothing.
constexpr int kHandshakeMilliseconds = 5'000;
/// When the other end does not acknowledge, or is silent and does not answer probes.
constexpr int kSilenceMilliseconds = 30'000;

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

int frames(std::size_t count) {
  return static_cast<int>(std::clamp<std::size_t>(count, 1, 1 << 20));
}

void set_up(zmq::socket_t& socket, zmq::socket_type type, const TransportOptions& options) {
  using namespace zmq::sockopt;
  socket.set(sndhwm, frames(options.queue_frames));
  socket.set(rcvhwm, frames(options.queue_frames));
  socket.set(zmq::sockopt::linger, milliseconds(options.linger));
  // Without this a stranger's hundred bytes that claim 6 GiB reserve as much.
  socket.set(maxmsgsize,
             static_cast<std::int64_t>(std::max(options.max_frame_bytes, kMaxHeaderBytes) +
                                       (options.keys ? kCurveBytes : 0)));
  socket.set(handshake_ivl, kHandshakeMilliseconds);
  socket.set(tcp_maxrt, kSilenceMilliseconds);
  socket.set(tcp_keepalive, 1);
  socket.set(tcp_keepalive_idle, 10);
  socket.set(tcp_keepalive_intvl, 10);
  socket.set(tcp_keepalive_cnt, 2);
  socket.set(zap_domain, Zap::kDomain);
  socket.set(ipv6, true);
  if (type == zmq::socket_type::router) {
    socket.set(router_mandatory, true);
    socket.set(router_handover, false);
  } else {
    socket.set(connect_timeout, kConnectMilliseconds);
    // A new attempt has a new socket: see ZmqDialled. With -1, and with the option immediate,
    // libzmq drops what came and is not read yet when the connection ends.
    socket.set(reconnect_ivl, kNeverMilliseconds);
  }
}

void note(ZmqShared& shared, EventSource& owner) {
  shared.ready.add(owner);
  shared.noted();
}

zmq::socket_t made(ZmqShared& shared, zmq::socket_type type) {
  zmq::socket_t socket(shared.context, type);
  set_up(socket, type, shared.options);
  return socket;
}

}  // namespace

void ReadyList::add(EventSource& source) {
  if (!std::exchange(source.ready_, true)) sources_.push_back(&source);
}

void ReadyList::remove(EventSource& source) {
  if (std::exchange(source.ready_, false)) std::erase(sources_, &source);
}

EventSource* ReadyList::take() {
  if (sources_.empty()) return nullptr;
  EventSource* const first = sources_.front();
  sources_.erase(sources_.begin());
  first->ready_ = false;
  return first;
}

Port::Port(ZmqShared& shared, zmq::socket_type type, EventSource& owner)
    : socket(made(shared, type)),
      monitor_(shared.context, socket, ++shared.sockets_made),
      socket_watch_(shared.loop, socket.get(zmq::sockopt::fd),
                    [&shared, &owner] { note(shared, owner); }),
      monitor_watch_(shared.loop, monitor_.descriptor(), [this, &shared, &owner] {
        monitor_ready_ = true;
        note(shared, owner);
      }) {
  note(shared, owner);
}

void Port::wait() {
  socket_watch_.wait_readable();
  monitor_watch_.wait_readable();
}

std::optional<Monitor::Event> Port::next_event(bool anyway) {
  if (!monitor_ready_ && !anyway) return std::nullopt;
  std::optional<Monitor::Event> event = monitor_.next();
  monitor_ready_ = event.has_value();
  return event;
}

void bound_unsent_bytes(int descriptor) {
  // The descriptor is libzmq's. If the connection has ended, its number may now belong to another
  // socket. The bound then applies to that one, which is harmless. Unix sockets ignore the option.
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
}

std::optional<Stranger> stranger_of(const Monitor::Event& event, bool dialled) {
  if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && dialled) return Stranger::kRefusesUs;
  if (event.kind != ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) return std::nullopt;
  switch (event.value) {
    case ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
      return Stranger::kNoKey;
    case ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC:
    case ZMQ_PROTOCOL_ERROR_ZMTP_KEY_EXCHANGE:
      return Stranger::kWrongDial;
    default:
      return std::nullopt;
  }
}

}  // namespace stencil
