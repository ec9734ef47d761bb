#include "stencil/transport/zmq/outgoing.h"

#include <functional>
#include <utility>

namespace stencil {
namespace {

/// False: libzmq has no room for a message to this peer. Throws where the peer is gone.
bool begin(zmq::socket_t& socket, const void* bytes, std::size_t size, bool more) {
  const auto flags =
      more ? zmq::send_flags::dontwait | zmq::send_flags::sndmore : zmq::send_flags::dontwait;
  return socket.send(zmq::const_buffer(bytes, size), flags).has_value();
}

}  // namespace

Outgoing::Outgoing(std::size_t most_frames, Signal& room)
    : most_frames_(most_frames),
      flights_(std::make_shared<Flights>(room)),
      waiting_(most_frames + kUrgentFrames) {}

SendStatus Outgoing::push(Frame&& frame) {
  if (waiting_.size() >= most_frames_ + (frame.urgent ? kUrgentFrames : 0)) {
    refused_ = true;
    return SendStatus::kFull;
  }
  const auto place = place_in_line(waiting_, 0, frame, std::identity());
  waiting_.insert(place, std::move(frame));
  frame = Frame{};
  return SendStatus::kSent;
}

bool Outgoing::has_room_again() {
  return refused_ && waiting_.size() < most_frames_ && std::exchange(refused_, false);
}

Outgoing::Outcome Outgoing::hand_on(zmq::socket_t& socket, std::string_view to) {
  while (!waiting_.empty()) {
    const Outcome outcome = hand_on_front(socket, to, true);
    if (outcome != Outcome::kAll) return outcome;
    waiting_.pop_front();
  }
  return Outcome::kAll;
}

void Outgoing::hand_on_all(zmq::socket_t& socket, std::string_view to) {
  while (!waiting_.empty() && hand_on_front(socket, to, false) == Outcome::kAll) {
    waiting_.pop_front();
  }
}

bool Outgoing::is_gone(zmq::socket_t& router, std::string_view peer) {
  try {
    if (begin(router, peer.data(), peer.size(), true)) (void)begin(router, nullptr, 0, false);
    return false;
  } catch (const zmq::error_t&) {
    return true;
  }
}

/// libzmq keeps room for the rest of a message that it has begun to take.
Outgoing::Outcome Outgoing::hand_on_front(zmq::socket_t& socket, std::string_view to,
                                          bool bounded) {
  const Frame& frame = waiting_.front();
  const bool has_payload = static_cast<bool>(frame.payload);
  const bool carried = has_payload && flights_->may_carry();
  if (has_payload && bounded && !carried) return Outcome::kSome;
  try {
    if (!to.empty() && !begin(socket, to.data(), to.size(), true)) return Outcome::kSome;
    if (!begin(socket, frame.header.data(), frame.header.size(), has_payload)) {
      return Outcome::kSome;
    }
    if (!has_payload) return Outcome::kAll;
    zmq::message_t payload =
        carried ? flights_->carry(frame.payload)
                : zmq::message_t(view(frame.payload).data(), view(frame.payload).size());
    (void)socket.send(payload, zmq::send_flags::dontwait);
    return Outcome::kAll;
  } catch (const zmq::error_t&) {
    return Outcome::kGone;
  }
}

}  // namespace stencil
