#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "stencil/io/event_loop.h"
#include "stencil/transport/proof.h"
#include "stencil/transport/zmq/incoming.h"
#include "stencil/transport/zmq/monitor.h"

namespace stencil {

/// Something of a transport that events come from.
class EventSource {
 public:
  virtual ~EventSource() = default;
  /// The next event. Nothing: it waits, and is made ready again.
  virtual std::optional<Received> next() = 0;

 private:
  friend class ReadyList;
  bool ready_ = false;
};

/// Who may have an event, in turn. Each stands here once.
class ReadyList {
 public:
  void add(EventSource& source);
  void remove(EventSource& source);
  [[nodiscard]] bool empty() const { return sources_.empty(); }
  /// Takes the first out; null where nobody is ready.
  [[nodiscard]] EventSource* take();

 private:
  std::vector<EventSource*> sources_;
};

/// What all links of one ZmqTransport share. The context's end waits for what is not sent yet, the
/// sockets' linger at most. It comes before that of `room`, which libzmq's thread raises until
/// then.
struct ZmqShared {
  ZmqShared(const TransportOptions& transport_options, std::function<void()> on_room)
      : options(transport_options), room(loop, std::move(on_room)) {}
  /// Asks for a call of receive(), where none is under way.
  void noted() const {
    if (!receiving) loop.ask();
  }

  const TransportOptions options;
  EventLoop& loop = loop_of(options);
  bool receiving = false;
  ReadyList ready;
  Signal room;  ///< a payload has left libzmq
  zmq::context_t context{1};
  Inbox inbox;
  TransportStats stats;
  std::shared_ptr<const KeyRing> keys;  ///< as they are now; null: none are in use
  std::uint64_t sockets_made = 0;
  LinkId last_link = 0;
};

/// A socket, the monitor of its connections, and the wait for both.
class Port {
 public:
  /// Makes `owner` ready whenever either has something. Throws zmq::error_t.
  Port(ZmqShared& shared, zmq::socket_type type, EventSource& owner);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  zmq::socket_t socket;
  /// The next event of a connection. Asks libzmq, which takes a system call, only where its
  /// descriptor has told of one, unless it shall be asked `anyway`.
  [[nodiscard]] std::optional<Monitor::Event> next_event(bool anyway = false);
  /// Once neither has any more.
  void wait();

 private:
  Monitor monitor_;
  bool monitor_ready_ = true;  ///< at first: its descriptor tells nothing before it was asked
  Watch socket_watch_, monitor_watch_;
};

/// Of a connection that has just been made: bounds what the system holds of it unsent, so that
/// libzmq's order is not kept for long; an urgent frame waits for that much.
void bound_unsent_bytes(int descriptor);

/// For which lack of a key a handshake has failed, at the end that `dialled` or at the other;
/// nothing where the event says no more than that the other end is no worker of this run.
[[nodiscard]] std::optional<Stranger> stranger_of(const Monitor::Event& event, bool dialled);

}  // namespace stencil
