#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <zmq.hpp>

namespace stencil {

/// What happens to the connections of one socket, as libzmq tells it. cppzmq's monitor_t keeps its
/// descriptor to itself, so it cannot be waited on with others. Used by the socket's thread.
class Monitor {
 public:
  struct Event {
    std::uint16_t kind = 0;  ///< ZMQ_EVENT_*
    int value = 0;  ///< the descriptor, or why a handshake has failed (ZMQ_PROTOCOL_ERROR_*)
  };

  /// `number` makes its address unique within the context. Throws ResourceError.
  Monitor(zmq::context_t& context, zmq::socket_t& watched, std::uint64_t number);
  /// Must come before the socket's own end.
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  [[nodiscard]] std::optional<Event> next();
  [[nodiscard]] int descriptor() const { return events_.get(zmq::sockopt::fd); }

 private:
  zmq::socket_t& watched_;
  zmq::socket_t events_;
};

}  // namespace stencil
