#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "stencil/core/random.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/proof.h"
#include "stencil/transport/zmq/incoming.h"
#include "stencil/transport/zmq/meter.h"
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
  ZmqShared(const TransportOptions& transport_options, std::function<void()> on_room,
            std::function<void()> on_look)
      : options(transport_options),
        room(loop, std::move(on_room)),
        look(loop, std::move(on_look)) {}
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
  Alarm look;  ///< for looking at what libzmq holds of each connection
  Inbox inbox{static_cast<bool>(options.keys)};
  TransportStats stats;
  std::shared_ptr<const KeyRing> keys;  ///< as they are now; null: none are in use
  std::optional<Hangup> hangup;         ///< from the transport's constructor on
  Random jitter{options.seed};
  std::uint64_t sockets_made = 0;
  LinkId last_link = 0;

  /// How often libzmq's connections are looked at, and where there is something to see.
  static constexpr Duration kLookEvery = std::chrono::milliseconds(20);
  static constexpr Duration kLookSoon = std::chrono::milliseconds(5);
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

/// Of whom is hung up on, in its log line.
inline constexpr const char* kNoFrames = " sent a message that is no frame, and was hung up on";
inline constexpr const char* kEndless =
    " sent more of a message than any of this run has, and was hung up on";

/// For which lack of a key a handshake has failed, at the end that `dialled` or at the other;
/// nothing where the event says no more than that the other end is no worker of this run.
[[nodiscard]] std::optional<Stranger> stranger_of(const Monitor::Event& event, bool dialled);

}  // namespace stencil
