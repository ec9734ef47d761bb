// Invariants:
//   1. A frame is received before the end of its connection is reported: kDown waits until the
//      socket has been read empty.
//   2. A connection accepted on our port ends in exactly one of two ways: as a link that goes
//      down, or, if it never sent a frame of our shape, as a stranger.
//   3. A frame that libzmq has no room for waits here, one per link, and the next one is refused.
//      So it is we who notice that there is room again: libzmq's own signal is used up by whatever
//      call on the socket comes first, and for a ROUTER it does not tell for which link.
//   4. Descriptors of connections are reused by the system. libzmq has one I/O thread here, which
//      reports the end of a connection before it closes the descriptor; so once the monitor has
//      been read empty, a descriptor seen on a message belongs to that message's connection.

#include "stencil/transport/zmq/zmq_transport.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/transport/zmq/descriptors.h"
#include "stencil/transport/zmq/zmq_monitor.h"
#include "stencil/transport/zmq/zmq_socket.h"

namespace stencil {
namespace {

/// After so many frames every socket is asked again, not only those known to be busy.
constexpr int kFramesBetweenRounds = 16;

/// In place of the link of a connection that is open but whose link is not known any more.
constexpr LinkId kForgotten = 0;

/// The frame that waits for room, and whether another was refused because of it.
struct Waiting {
  std::optional<Frame> frame;
  bool refused = false;
};

/// A socket and its monitor; the monitor ends first.
struct Socket {
  Socket(void* context, int type, const TransportOptions& options, const std::string& endpoint,
         std::uint64_t number)
      : handle(make_zmq_socket(context, type, options, endpoint)),
        monitor(context, handle.get(), number) {}

  ZmqSocket handle;
  ZmqMonitor monitor;
  bool busy = true;  ///< may have something to receive
};

struct Dialled : Socket {
  using Socket::Socket;
  LinkId id = 0;
  bool connected = false;
  Waiting waiting;
  std::deque<LinkEvent> events;  ///< kUp and kDown in turn, at most two
};

struct Inbound {
  std::string sender;
  int connection = -1;
  std::uint64_t last_used = 0;
  Waiting waiting;
};

class ZmqTransport final : public Transport {
 public:
  explicit ZmqTransport(const TransportOptions& options)
      : options_(options), context_(zmq_ctx_new()) {
    if (!context_) throw ConfigError("cannot start ZeroMQ", "raise the limit of open files");
    zmq_ctx_set(context_.get(), ZMQ_IO_THREADS, 1);
    watched_.add(room_.descriptor());
    if (options.listen.empty()) return;
    listener_ = std::make_unique<Socket>(context_.get(), ZMQ_ROUTER, options_, options.listen,
                                         ++sockets_made_);
    endpoint_ = bind_zmq_socket(listener_->handle.get(), options.listen);
    watch(*listener_);
  }

  [[nodiscard]] std::string endpoint() const override { return endpoint_; }

  LinkId dial(const std::string& endpoint) override {
    check_zmq_endpoint(endpoint, true);
    auto dialled =
        std::make_unique<Dialled>(context_.get(), ZMQ_DEALER, options_, endpoint, ++sockets_made_);
    if (zmq_connect(dialled->handle.get(), endpoint.c_str()) != 0)
      throw ConfigError("cannot dial '" + endpoint + "': " + zmq_error_text(),
                        "use tcp://HOST:PORT, with PORT 1 to 65535");
    watch(*dialled);
    dialled->id = ++last_link_;
    const LinkId id = dialled->id;
    dialled_.push_back(std::move(dialled));
    return id;
  }

  void drop(LinkId link) override {
    if (const auto found = find_dialled(link); found != dialled_.end()) {
      unwatch(**found);
      dialled_.erase(found);
    } else if (inbound_.contains(link)) {
      forget(link);
    }
    std::erase_if(down_, [link](LinkId other) { return other == link; });
  }

  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    const std::size_t limit = std::max<std::size_t>(options_.max_frame_bytes, 4096);
    const std::size_t payload_bytes = view(frame.payload).size();
    if (frame.header.size() > limit || payload_bytes > limit)
      throw InvariantError("a frame of " + std::to_string(frame.header.size()) + " + " +
                           std::to_string(payload_bytes) + " bytes is over max_frame_bytes");
    SendStatus status = SendStatus::kDown;
    if (const auto found = find_dialled(link); found != dialled_.end()) {
      if ((*found)->connected && (*found)->events.empty()) status = send_in_turn(**found, frame);
    } else if (const auto known = inbound_.find(link); known != inbound_.end()) {
      status = send_in_turn(known->second, frame);
      if (status == SendStatus::kDown) break_link(link);
    }
    if (status != SendStatus::kSent) return status;
    ++stats_.frames_sent;
    stats_.bytes_sent += frame.header.size() + payload_bytes;
    frame = Frame{};
    return status;
  }

  [[nodiscard]] std::optional<Received> receive() override {
    room_.clear();
    if (until_round_-- > 0) {
      if (std::optional<Received> received = from_busy()) return received;
    }
    // "Nothing" may only be said after asking all: a send() in between can have taken away what
    // would have made the descriptor readable.
    until_round_ = kFramesBetweenRounds;
    begin_round();
    std::optional<Received> received = from_busy();
    if (!received && send_waiting()) {
      begin_round();
      received = from_busy();
    }
    if (!received) until_round_ = 0;
    return received;
  }

  [[nodiscard]] std::vector<int> descriptors() const override { return {watched_.descriptor()}; }
  [[nodiscard]] TransportStats stats() const override { return stats_; }

 private:
  using DialledLinks = std::vector<std::unique_ptr<Dialled>>;

  DialledLinks::iterator find_dialled(LinkId link) {
    return std::find_if(dialled_.begin(), dialled_.end(),
                        [link](const auto& dialled) { return dialled->id == link; });
  }

  void watch(Socket& socket) {
    watched_.add(zmq_descriptor(socket.handle.get()));
    watched_.add(socket.monitor.descriptor());
  }
  void unwatch(Socket& socket) {
    watched_.remove(zmq_descriptor(socket.handle.get()));
    watched_.remove(socket.monitor.descriptor());
  }

  void count(const Frame& frame) {
    ++stats_.frames_received;
    stats_.bytes_received += frame.header.size() + view(frame.payload).size();
  }

  SendStatus send_parts(void* socket, const Frame& frame) {
    ZmqPart header(std::span<const std::byte>(frame.header.data(), frame.header.size()));
    if (!header.send(socket, true))
      return zmq_errno() == EAGAIN ? SendStatus::kFull : SendStatus::kDown;
    // libzmq keeps room for the rest of a message it has begun.
    ZmqPart payload(frame.payload);
    if (payload.send(socket, false)) return SendStatus::kSent;
    ++stats_.discarded;
    return SendStatus::kDown;
  }

  SendStatus send_now(Dialled& link, const Frame& frame) {
    return send_parts(link.handle.get(), frame);
  }
  SendStatus send_now(Inbound& link, const Frame& frame) {
    void* socket = listener_->handle.get();
    ZmqPart sender(std::as_bytes(std::span(link.sender)));
    if (!sender.send(socket, true))
      return zmq_errno() == EAGAIN ? SendStatus::kFull : SendStatus::kDown;
    link.last_used = ++uses_;
    return send_parts(socket, frame);
  }

  /// Takes the frame even where libzmq does not, if none is waiting already.
  template <typename Link>
  SendStatus send_in_turn(Link& link, Frame& frame) {
    SendStatus status = send_waiting_of(link);
    if (status == SendStatus::kSent) status = send_now(link, frame);
    if (status != SendStatus::kFull) return status;
    if (link.waiting.frame) {
      link.waiting.refused = true;
      return status;
    }
    link.waiting.frame = std::move(frame);
    return SendStatus::kSent;
  }

  template <typename Link>
  SendStatus send_waiting_of(Link& link) {
    if (!link.waiting.frame) return SendStatus::kSent;
    const SendStatus status = send_now(link, *link.waiting.frame);
    if (status == SendStatus::kFull) return status;
    if (status == SendStatus::kDown) ++stats_.discarded;
    link.waiting.frame.reset();
    if (std::exchange(link.waiting.refused, false)) room_.set();
    return status;
  }

  /// Tries all that waits; whether there was any.
  bool send_waiting() {
    bool any = false;
    for (auto& dialled : dialled_) {
      if (!dialled->waiting.frame) continue;
      any = true;
      (void)send_waiting_of(*dialled);
    }
    std::vector<LinkId> ended;
    for (auto& [id, link] : inbound_) {
      if (!link.waiting.frame) continue;
      any = true;
      if (send_waiting_of(link) == SendStatus::kDown) ended.push_back(id);
    }
    for (const LinkId link : ended) break_link(link);
    return any;
  }

  void end_link(LinkId link) {
    down_.push_back(link);
    forget(link);
  }

  /// A send has shown that the connection is gone. Frames of it may still wait to be received, so
  /// its end is left to the monitor, which knows of it already.
  void break_link(LinkId link) {
    const auto known = by_connection_.find(inbound_.at(link).connection);
    if (known == by_connection_.end() || known->second != link) return end_link(link);
    listener_->busy = true;
  }

  /// The next event from the sockets known to be busy, each in its turn.
  std::optional<Received> from_busy() {
    if (std::optional<Received> down = next_down()) return down;
    for (std::size_t tried = 0; tried <= dialled_.size(); ++tried) {
      turn_ = (turn_ + 1) % (dialled_.size() + 1);
      std::optional<Received> received =
          turn_ == dialled_.size() ? from_listener() : from_dialled(*dialled_[turn_]);
      if (!received) continue;
      if (received->event == LinkEvent::kFrame) count(received->frame);
      return received;
    }
    return std::nullopt;
  }

  void begin_round() {
    if (listener_) {
      read_listener_monitor();
      listener_->busy = true;
    }
    for (auto& dialled : dialled_) {
      read_monitor(*dialled);
      dialled->busy = true;
    }
  }

  void read_monitor(Dialled& link) {
    while (const auto event = link.monitor.next()) {
      if (event->kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED && !link.connected) {
        link.connected = true;
        link.events.push_back(LinkEvent::kUp);
      } else if (event->kind == ZMQ_EVENT_DISCONNECTED && link.connected) {
        link.connected = false;
        lose_waiting(link.waiting);
        if (!link.events.empty() && link.events.back() == LinkEvent::kUp)
          link.events.pop_back();  // up and down again before anybody knew
        else
          link.events.push_back(LinkEvent::kDown);
      }
    }
  }

  void read_listener_monitor() {
    while (const auto event = listener_->monitor.next()) {
      if (event->kind == ZMQ_EVENT_ACCEPTED && closed_.erase(event->value) > 0)
        end_connection(event->value);  // the descriptor has a new connection
      else if (event->kind == ZMQ_EVENT_DISCONNECTED)
        closed_.insert(event->value);
      else if (event->kind == ZMQ_EVENT_ACCEPT_FAILED)
        ++stats_.strangers;
    }
  }

  std::optional<Received> from_dialled(Dialled& link) {
    if (!link.busy) return std::nullopt;
    while (auto message = receive_zmq_message(link.handle.get(), false, payloads_)) {
      if (message->frame) return Received{LinkEvent::kFrame, link.id, std::move(*message->frame)};
      ++stats_.strangers;
    }
    link.busy = false;
    if (link.events.empty()) return std::nullopt;
    Received received{link.events.front(), link.id, {}};
    link.events.pop_front();
    link.busy = true;
    return received;
  }

  std::optional<Received> from_listener() {
    if (!listener_ || !listener_->busy) return std::nullopt;
    while (auto message = receive_zmq_message(listener_->handle.get(), true, payloads_)) {
      if (!message->frame) {
        ++stats_.strangers;
        continue;
      }
      const LinkId link = inbound_link(*message);
      inbound_.at(link).last_used = ++uses_;
      return Received{LinkEvent::kFrame, link, std::move(*message->frame)};
    }
    listener_->busy = false;
    for (const int connection : closed_) end_connection(connection);
    closed_.clear();
    return next_down();
  }

  std::optional<Received> next_down() {
    if (down_.empty()) return std::nullopt;
    Received received{LinkEvent::kDown, down_.front(), {}};
    down_.pop_front();
    return received;
  }

  /// The link of the message's sender; a new one where it was not known.
  LinkId inbound_link(ZmqMessage& message) {
    const auto known = by_sender_.find(message.sender);
    if (known != by_sender_.end()) return known->second;
    read_listener_monitor();
    const auto reused = by_connection_.find(message.connection);
    if (reused != by_connection_.end() && reused->second != kForgotten)
      end_connection(message.connection);
    if (inbound_.size() >= std::max<std::size_t>(options_.max_links, 1)) {
      const auto oldest = std::min_element(
          inbound_.begin(), inbound_.end(),
          [](const auto& a, const auto& b) { return a.second.last_used < b.second.last_used; });
      end_link(oldest->first);
    }
    const LinkId link = ++last_link_;
    by_sender_.emplace(message.sender, link);
    if (message.connection >= 0) by_connection_[message.connection] = link;
    inbound_.emplace(link, Inbound{std::move(message.sender), message.connection, 0, {}});
    return link;
  }

  void end_connection(int connection) {
    const auto known = by_connection_.find(connection);
    if (known == by_connection_.end()) {
      ++stats_.strangers;
      return;
    }
    if (known->second != kForgotten) end_link(known->second);
    by_connection_.erase(connection);
  }

  void lose_waiting(Waiting& waiting) {
    if (waiting.frame) ++stats_.discarded;
    waiting = Waiting{};
  }

  void forget(LinkId link) {
    const auto known = inbound_.find(link);
    if (known == inbound_.end()) return;
    lose_waiting(known->second.waiting);
    by_sender_.erase(known->second.sender);
    // Until its end the connection stays known as no stranger's.
    if (known->second.connection >= 0) by_connection_[known->second.connection] = kForgotten;
    inbound_.erase(known);
  }

  const TransportOptions options_;
  // Ends last, waiting for what the sockets have not sent yet, `linger` at most.
  ZmqContext context_;
  DescriptorSet watched_;
  Flag room_;  ///< a link that refused a frame takes one again
  std::unique_ptr<Socket> listener_;
  std::string endpoint_;
  DialledLinks dialled_;

  LinkId last_link_ = 0;
  std::uint64_t sockets_made_ = 0;
  std::uint64_t uses_ = 0;
  std::size_t turn_ = 0;
  int until_round_ = 0;

  std::map<LinkId, Inbound> inbound_;
  std::unordered_map<std::string, LinkId> by_sender_;
  std::unordered_map<int, LinkId> by_connection_;  ///< or kForgotten; as many as are open
  std::set<int> closed_;     ///< connections that ended while frames of theirs may still wait
  std::deque<LinkId> down_;  ///< kDown to report
  ZmqPayloads payloads_;
  TransportStats stats_;
};

}  // namespace

std::unique_ptr<Transport> make_zmq_transport(const TransportOptions& options) {
  return std::make_unique<ZmqTransport>(options);
}

}  // namespace stencil
