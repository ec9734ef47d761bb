#include "stencil/transport/zmq/zmq_monitor.h"

#include <cstring>

#include "stencil/core/error.h"

namespace stencil {
namespace {

constexpr int kEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_SUCCEEDED;

ConfigError cannot_monitor() {
  return {"cannot watch a ZeroMQ socket: " + zmq_error_text(),
          "raise the limit of open files (ulimit -n)"};
}

}  // namespace

ZmqMonitor::ZmqMonitor(void* context, void* socket, std::uint64_t number)
    : watched_(socket), pair_(zmq_socket(context, ZMQ_PAIR)) {
  if (!pair_) throw cannot_monitor();
  const std::string address = "inproc://monitor-" + std::to_string(number);
  const int no_linger = 0;
  zmq_setsockopt(pair_.get(), ZMQ_LINGER, &no_linger, sizeof no_linger);
  if (zmq_socket_monitor(socket, address.c_str(), kEvents) != 0 ||
      zmq_connect(pair_.get(), address.c_str()) != 0)
    throw cannot_monitor();
}

ZmqMonitor::~ZmqMonitor() {
  // A full queue of events would hold libzmq's thread, and with it the call below.
  while (next()) {
  }
  zmq_socket_monitor(watched_, nullptr, 0);
}

std::optional<ZmqMonitor::Event> ZmqMonitor::next() {
  ZmqPart part;  // two parts: kind (16 bits) and value (32 bits); then the address
  if (!part.receive(pair_.get())) return std::nullopt;
  Event event;
  if (part.size() >= sizeof(std::uint16_t) + sizeof(std::uint32_t)) {
    std::uint32_t value = 0;
    std::memcpy(&event.kind, part.data(), sizeof event.kind);
    std::memcpy(&value, part.data() + sizeof event.kind, sizeof value);
    event.value = static_cast<int>(value);
  }
  while (part.more() && part.receive(pair_.get())) {
  }
  return event;
}

}  // namespace stencil
