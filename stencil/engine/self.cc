#include "stencil/engine/self.h"

#include <utility>

namespace stencil {

void Self::stamp(MessageHeader& header, const Neighbour* to) {
  header.from = config.rank;
  header.number = ++numbered_;
  header.state = state;
  header.step = step();
  header.settled_hops = settled_hops;
  if (to == nullptr) return;
  header.sender_epoch = to->life.our_epoch;
  header.receiver_epoch = to->life.their_epoch;
  header.completed = to->book.completed();
}

Message Self::message(const Neighbour* to, MessageBody body) {
  Message message{.header = {}, .body = std::move(body)};
  stamp(message.header, to);
  return message;
}

void Self::send(TimePoint now, Neighbour& to, MessageBody body, Actions& out) {
  to.times.sent = now;
  out.push_back(action::Send{to.rank, message(&to, std::move(body))});
}

void Self::heartbeat_all(TimePoint now, Actions& out) {
  for (Neighbour& neighbour : neighbours) {
    if (neighbour.up()) heartbeat(now, neighbour, out);
  }
}

}  // namespace stencil
