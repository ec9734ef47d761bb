#include "stencil/transport/zmq/incoming.h"

#include <utility>

#include "stencil/transport/zmq/meter.h"

namespace stencil {

void MessageMemory::take(zmq::message_t&& message) {
  message_ = std::move(message);
  bytes_ = {static_cast<const std::byte*>(message_.data()), message_.size()};
}

void MessageMemory::empty() {
  message_.rebuild();
  bytes_ = {};
}

/// The parts of a message arrive together: where one was promised it is there.
std::optional<Incoming> Inbox::receive(zmq::socket_t& socket, bool from_router) {
  constexpr auto kNow = zmq::recv_flags::dontwait;
  Incoming incoming;
  if (from_router) {
    if (!socket.recv(header_, kNow)) return std::nullopt;
    incoming.sender.assign(static_cast<const char*>(header_.data()), header_.size());
    if (!header_.more()) return incoming;
  }
  if (!socket.recv(header_, kNow)) return std::nullopt;
  incoming.wire_bytes = wire_bytes_of_part(header_.size(), encrypted_);
  zmq::message_t part;
  std::size_t parts = 1;
  for (bool more = header_.more(); more; more = part.more()) {
    (void)socket.recv(part, kNow);
    incoming.wire_bytes += wire_bytes_of_part(part.size(), encrypted_);
    ++parts;
  }
  if (parts > 2 || header_.size() > kMaxHeaderBytes) return incoming;
  Frame frame;
  const auto* const header = static_cast<const std::byte*>(header_.data());
  frame.header.assign(header, header + header_.size());
  if (part.size() > 0) {
    MessageMemory* const memory = payloads_.take();
    memory->take(std::move(part));
    frame.payload = Payload(memory);
  }
  incoming.frame = std::move(frame);
  return incoming;
}

int Inbox::connection() const {
  // Deprecated for want of meaning where a message is relayed; here it comes from its own peer.
  return zmq_msg_get(header_.handle(), ZMQ_SRCFD);
}

std::string Inbox::user() const {
  const char* const user = zmq_msg_gets(header_.handle(), "User-Id");
  return user == nullptr ? std::string() : std::string(user);
}

}  // namespace stencil
