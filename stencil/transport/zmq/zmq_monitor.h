#pragma once

#include <cstdint>
#include <optional>

#include "stencil/transport/zmq/zmq_socket.h"

namespace stencil {

/// What happens to the connections of one socket, as libzmq tells it. Used by the socket's thread.
class ZmqMonitor {
 public:
  struct Event {
    std::uint16_t kind = 0;  ///< ZMQ_EVENT_*
    int value = 0;           ///< of ACCEPTED, CONNECTED and DISCONNECTED: the descriptor
  };

  /// `number` makes the address unique within the context. Throws ConfigError.
  ZmqMonitor(void* context, void* socket, std::uint64_t number);
  /// Must come before the socket's own end.
  ~ZmqMonitor();
  ZmqMonitor(const ZmqMonitor&) = delete;
  ZmqMonitor& operator=(const ZmqMonitor&) = delete;

  [[nodiscard]] std::optional<Event> next();
  [[nodiscard]] int descriptor() const { return zmq_descriptor(pair_.get()); }

 private:
  void* watched_;
  ZmqSocket pair_;
};

}  // namespace stencil
