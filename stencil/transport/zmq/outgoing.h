#pragma once

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <zmq.hpp>

#include "stencil/core/frame.h"
#include "stencil/transport/transport.h"
#include "stencil/transport/zmq/flights.h"

namespace stencil {

/// What waits to be sent on one link. Urgent frames overtake payloads here; libzmq, which keeps all
/// in order, is given little at a time. One thread.
class Outgoing {
 public:
  enum class Outcome : std::uint8_t { kAll, kSome, kGone };

  /// `room` is raised when hand_on() that gave kSome for want of flights may give more; for want of
  /// libzmq's own room the socket's descriptor tells.
  Outgoing(std::size_t most_frames, Signal& room);

  /// kFull, and the frame left alone, where too many wait. A few urgent ones find room beyond.
  [[nodiscard]] SendStatus push(Frame&& frame);
  /// Gives the socket what it takes; `to` is the routing id where it is a ROUTER.
  Outcome hand_on(zmq::socket_t& socket, std::string_view to = {});
  /// Whether the peer's connection has ended and libzmq knows of no frame of it beyond those that
  /// can be received now. Where it has not, an empty message is sent, to whoever may be there.
  [[nodiscard]] static bool is_gone(zmq::socket_t& router, std::string_view peer);
  /// The last that is sent: all of it, without a bound but the queue's own.
  void hand_on_all(zmq::socket_t& socket, std::string_view to = {});

  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  /// True once, when a link that has refused a frame takes one again.
  [[nodiscard]] bool has_room_again();

 private:
  static constexpr std::size_t kUrgentFrames = 16;
  Outcome hand_on_front(zmq::socket_t& socket, std::string_view to, bool bounded);

  std::size_t most_frames_;
  std::shared_ptr<Flights> flights_;
  boost::circular_buffer<Frame> waiting_;
  bool refused_ = false;
};

}  // namespace stencil
