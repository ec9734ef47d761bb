#include "stencil/transport/zmq/monitor.h"

#include <cstring>

namespace stencil {
namespace {

constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_ACCEPTED |
                        ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
/// libzmq's thread waits where more are unread: a flood of strangers is slowed down so.
constexpr int kMostUnread = 100'000;

}  // namespace

Monitor::Monitor(zmq::context_t& context, zmq::socket_t& watched, std::uint64_t number)
    : watched_(watched), events_(context, zmq::socket_type::pair) {
  const std::string address = "inproc://monitor-" + std::to_string(number);
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, kMostUnread);
  if (zmq_socket_monitor(watched.handle(), address.c_str(), kEvents) != 0) throw zmq::error_t();
  events_.connect(address);
}

Monitor::~Monitor() {
  // libzmq's thread may wait for room, and the call below for it.
  while (next()) {
  }
  zmq_socket_monitor(watched_.handle(), nullptr, 0);
}

std::optional<Monitor::Event> Monitor::next() {
  zmq::message_t part;  // kind (16 bits) and value (32 bits); then the address
  if (!events_.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
  Event event;
  std::uint32_t value = 0;
  if (part.size() >= sizeof event.kind + sizeof value) {
    const auto* const bytes = static_cast<const std::byte*>(part.data());
    std::memcpy(&event.kind, bytes, sizeof event.kind);
    std::memcpy(&value, bytes + sizeof event.kind, sizeof value);
    event.value = static_cast<int>(value);
  }
  while (part.more() && events_.recv(part, zmq::recv_flags::dontwait)) {
  }
  return event;
}

}  // namespace stencil
