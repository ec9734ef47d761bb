// Invariants:
//   1. A frame is received before the end of its connection is reported.
//   2. A connection accepted on our port ends in exactly one of two ways: as a link that goes
//      down, or, if it never sent a frame of our shape, as a stranger.
//   3. Every connection that may have something to give stands in `ready_`, and the loop waits for
//      the others: so receive() gives nothing only when nothing is there.

#include "stencil/transport/stream/stream_transport.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/stream/peer.h"

namespace stencil {
namespace {

constexpr Duration kConnectPatience = std::chrono::seconds(5);
/// What has no timer of its own goes by ticks.
constexpr Duration kTick = std::chrono::seconds(1);
/// How often whoever leaves looks whether all has been heard.
constexpr Duration kLook = std::chrono::milliseconds(1);
constexpr int kGreetingTicks = 6;  ///< for a stranger who connects and says nothing
constexpr int kAcceptedAtOnce = 32;
/// Connections looked into for nothing in one call of receive().
constexpr int kMostFruitless = 4096;

class StreamTransport final : public Transport {
 public:
  explicit StreamTransport(const TransportOptions& options)
      : options_(options), loop_(loop_of(options)), tick_(loop_, [this] { on_tick(); }) {
    if (options.listen.empty()) return;
    listener_.emplace(options.listen);
    newcomers_.emplace(loop_, listener_->descriptor(), [this] {
      accepting_ = true;
      noted();
    });
    newcomers_->wait_readable();
  }

  /// Says good-bye to all, for as long as they take to hear it, `linger` at most.
  ~StreamTransport() override {
    newcomers_.reset();
    listener_.reset();
    while (!dialled_.empty()) drop(dialled_.back()->id);
    for (const auto& peer : peers_) leave(*peer);
    bool patient = true;
    Alarm patience(loop_, [&patient] { patient = false; });
    patience.set_after(options_.linger);
    tick_.cancel();
    while (patient && !std::ranges::all_of(
                          peers_, [](const auto& peer) { return peer->connection.may_close(); })) {
      (void)loop_.wait_for(kLook);
      // Whoever sends without end does not keep us.
      for (std::size_t i = ready_.size(); i > 0 && !ready_.empty(); --i) (void)from_next_ready();
    }
  }

  [[nodiscard]] std::string endpoint() const override {
    return listener_ ? listener_->endpoint() : std::string();
  }

  LinkId dial(const PeerAddress& address) override {
    auto dialled = std::make_unique<Dialled>();
    Dialled& d = *dialled;
    d.endpoint = parse_endpoint(address.endpoint, true);
    d.literal = literal_addresses(d.endpoint);
    d.id = ++last_link_;
    d.pause = options_.reconnect_min;
    d.alarm.emplace(loop_, [this, &d] {
      if (d.peer == nullptr) return attempt(d);
      (void)finish(*d.peer);
    });
    dialled_.push_back(std::move(dialled));
    attempt(d);
    return d.id;
  }

  void drop(LinkId link) override {
    std::erase(down_, link);
    if (const auto known = inbound_.find(link); known != inbound_.end()) return forget(known);
    const auto found = find_dialled(link);
    if (found == dialled_.end()) return;
    Dialled& d = **found;
    if (d.peer != nullptr) {
      d.peer->dialled = nullptr;
      leave(*d.peer);
    }
    dialled_.erase(found);
  }

  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    const std::size_t header = frame.header.size(), payload = view(frame.payload).size();
    if (header > kMaxHeaderBytes || payload > options_.max_frame_bytes)
      throw InvariantError("a frame of " + std::to_string(header) + " + " +
                           std::to_string(payload) + " bytes is over max_frame_bytes");
    Peer* const peer = peer_of(link);
    if (peer == nullptr) return SendStatus::kDown;
    const SendStatus status = peer->connection.send(std::move(frame));
    make_ready(*peer);  // the write may have shown that the end is near
    if (status != SendStatus::kSent) return status;
    peer->last_used = ++uses_;
    ++stats_.frames_sent;
    stats_.bytes_sent += header + payload;
    return status;
  }

  [[nodiscard]] std::optional<Received> receive() override {
    int fruitless = 0;
    do {
      if (!down_.empty()) {
        const LinkId link = down_.front();
        down_.erase(down_.begin());
        return Received{LinkEvent::kDown, link, {}};
      }
      while (!ready_.empty()) {
        if (std::optional<Received> received = from_next_ready()) return received;
        if (++fruitless < kMostFruitless) continue;
        loop_.ask();  // what is left is for the next call
        return std::nullopt;
      }
    } while (look());
    return std::nullopt;
  }

  [[nodiscard]] TransportStats stats() const override { return stats_; }

 private:
  using Dials = std::vector<std::unique_ptr<Dialled>>;
  using Inbound = std::map<LinkId, Peer*>;

  /// Lets all that has happened be noted. False: nothing has.
  bool look() {
    receiving_ = true;
    loop_.poll();
    receiving_ = false;
    if (std::exchange(accepting_, false)) accept();
    return !ready_.empty() || !down_.empty();
  }

  /// Asks for a call of receive(), where none is under way.
  void noted() {
    if (!receiving_) loop_.ask();
  }

  // Connections.

  Peer& add_peer(Descriptor&& socket, Connection::State state) {
    auto owner = std::make_unique<Peer>(std::move(socket), state, options_, payloads_);
    Peer& peer = *owner;
    peer.watch.emplace(
        loop_, peer.connection.descriptor(),
        [this, &peer] {
          peer.connection.on_readable();
          make_ready(peer);
          noted();
        },
        [this, &peer] {
          if (peer.connection.on_writable()) loop_.ask();
          make_ready(peer);
          noted();
        });
    peers_.push_back(std::move(owner));
    make_ready(peer);
    noted();
    return peer;
  }

  void make_ready(Peer& peer) {
    if (!std::exchange(peer.ready, true)) ready_.push_back(&peer);
  }

  /// The first in turn gives what it has, and stands at the end again if there may be more.
  std::optional<Received> from_next_ready() {
    Peer& peer = *ready_.front();
    ready_.erase(ready_.begin());
    peer.ready = false;
    if (peer.dialled != nullptr && !peer.dialled->up &&
        peer.connection.state() == Connection::State::kOpen) {
      make_ready(peer);
      peer.dialled->alarm->cancel();
      peer.dialled->up = true;
      return Received{LinkEvent::kUp, peer.dialled->id, {}};
    }
    std::optional<Frame> frame = peer.connection.receive();
    if (frame) {
      make_ready(peer);
      return Received{LinkEvent::kFrame, note_frame(peer, *frame), *std::move(frame)};
    }
    if (peer.connection.state() == Connection::State::kEnded) return finish(peer);
    if (peer.connection.has_more()) make_ready(peer);
    if (peer.connection.wants_readable()) peer.watch->wait_readable();
    if (peer.connection.wants_writable()) peer.watch->wait_writable();
    return peer.dialled == nullptr ? bound_partial(peer) : std::nullopt;
  }

  /// After bytes of an accepted connection: see TransportOptions::max_partial_payloads.
  std::optional<Received> bound_partial(Peer& peer) {
    std::erase(partial_, &peer);
    if (!peer.connection.in_payload()) return std::nullopt;
    partial_.push_back(&peer);
    if (partial_.size() <= std::max<std::size_t>(options_.max_partial_payloads, 1))
      return std::nullopt;
    const auto stranger = std::ranges::find(partial_, true, &Peer::stranger);
    return finish(stranger == partial_.end() ? *partial_.front() : **stranger);
  }

  /// Which link it came on: a new one where the sender had none.
  LinkId note_frame(Peer& peer, const Frame& frame) {
    ++stats_.frames_received;
    stats_.bytes_received += frame.header.size() + view(frame.payload).size();
    peer.last_used = ++uses_;
    if (peer.dialled != nullptr) {
      peer.dialled->pause = options_.reconnect_min;
      return peer.dialled->id;
    }
    peer.stranger = false;
    if (peer.link != 0) return peer.link;
    if (inbound_.size() >= std::max<std::size_t>(options_.max_links, 1)) {
      const auto oldest = std::ranges::min_element(
          inbound_, {}, [](const auto& entry) { return entry.second->last_used; });
      Peer& evicted = *oldest->second;
      down_.push_back(oldest->first);
      forget(oldest);
      leave(evicted);
    }
    peer.link = ++last_link_;
    inbound_.emplace(peer.link, &peer);
    return peer.link;
  }

  void forget(Inbound::iterator known) {
    known->second->link = 0;
    inbound_.erase(known);
  }

  void leave(Peer& peer) {
    peer.leaving = true;
    peer.age = 0;
    peer.connection.leave();
    make_ready(peer);
    tick();
  }

  /// Of a connection that has ended, or whose time is up.
  std::optional<Received> finish(Peer& peer) {
    std::optional<Received> down;
    if (!peer.leaving) stats_.discarded += peer.connection.unsent_frames();
    if (peer.dialled != nullptr) {
      if (peer.connection.broken()) ++stats_.strangers;
      Dialled& d = *peer.dialled;
      d.peer = nullptr;
      if (std::exchange(d.up, false)) down = Received{LinkEvent::kDown, d.id, {}};
      try_again(d);
    } else if (const auto known = inbound_.find(peer.link); known != inbound_.end()) {
      down = Received{LinkEvent::kDown, peer.link, {}};
      inbound_.erase(known);
    } else if (peer.stranger) {
      ++stats_.strangers;
    }
    if (peer.ready) std::erase(ready_, &peer);
    std::erase(partial_, &peer);
    peers_.erase(std::ranges::find(peers_, &peer, &std::unique_ptr<Peer>::get));
    return down;
  }

  Peer* peer_of(LinkId link) {
    if (const auto known = inbound_.find(link); known != inbound_.end()) return known->second;
    const auto found = find_dialled(link);
    return found != dialled_.end() && (*found)->up ? (*found)->peer : nullptr;
  }

  // Dialling.

  Dials::iterator find_dialled(LinkId link) {
    return std::ranges::find(dialled_, link, [](const auto& dialled) { return dialled->id; });
  }

  void attempt(Dialled& d) {
    if (!d.literal.empty()) return connect(d, d.literal);
    try {
      d.lookup.emplace(options_, d.endpoint,
                       [this, &d](const std::vector<Address>& found) { connect(d, found); });
    } catch (const ResourceError&) {
      try_again(d);  // no thread to be had just now
    }
  }

  /// To one of the addresses, to the next of them the next time.
  void connect(Dialled& d, const std::vector<Address>& addresses) {
    if (addresses.empty()) return try_again(d);
    const Address& address = addresses[d.attempts++ % addresses.size()];
    const int socket =
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return try_again(d);
    Descriptor owner(socket);
    const bool done = ::connect(socket, address.get(), address.size) == 0;
    if (!done && errno != EINPROGRESS) return try_again(d);
    Peer& peer = add_peer(std::move(owner),
                          done ? Connection::State::kOpen : Connection::State::kConnecting);
    peer.dialled = &d;
    d.peer = &peer;
    d.alarm->set_after(kConnectPatience);
  }

  void try_again(Dialled& d) {
    d.alarm->set_after(d.pause);
    d.pause = std::min(2 * d.pause, options_.reconnect_max);
  }

  // Listening.

  void accept() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      const int socket =
          ::accept4(listener_->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        make_way();
        add_peer(Descriptor(socket), Connection::State::kOpen).stranger = true;
        tick();
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        ++stats_.strangers;
        tick();  // accepts again
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        break;
      }
    }
    newcomers_->wait_readable();
  }

  /// Strangers without end must not use up all descriptors: the one longest silent goes.
  void make_way() {
    if (peers_.size() < 2 * options_.max_links + dialled_.size()) return;
    const auto linkless = [](const auto& peer) {
      return peer->dialled == nullptr && peer->link == 0 ? peer->last_used : std::uint64_t(-1);
    };
    (void)finish(**std::ranges::min_element(peers_, {}, linkless));
  }

  /// Sees to it that a tick comes; one that is under way is not put off.
  void tick() {
    if (!std::exchange(ticking_, true)) tick_.set_after(kTick);
  }

  void on_tick() {
    ticking_ = false;
    if (newcomers_) newcomers_->wait_readable();
    std::vector<Peer*> late;
    bool more = false;
    for (const auto& peer : peers_) {
      if (!peer->leaving && (peer->dialled != nullptr || peer->connection.greeted())) continue;
      ++peer->age;
      more = true;
      if (peer->leaving ? peer->age * kTick > options_.linger : peer->age >= kGreetingTicks)
        late.push_back(peer.get());
    }
    for (Peer* const peer : late) (void)finish(*peer);
    if (!late.empty()) noted();  // the counts show it
    if (more) tick();
  }

  const TransportOptions options_;
  EventLoop& loop_;
  bool receiving_ = false;  ///< in a call of receive(): what happens needs no other
  Alarm tick_;
  bool ticking_ = false;
  std::optional<Listener> listener_;
  std::optional<Watch> newcomers_;
  bool accepting_ = false;  ///< somebody waits to be accepted
  BucketPool payloads_;

  std::vector<std::unique_ptr<Peer>> peers_;
  Dials dialled_;
  Inbound inbound_;
  std::vector<Peer*> ready_;    ///< in turn
  std::vector<Peer*> partial_;  ///< accepted, in the middle of a payload; longest still first
  std::vector<LinkId> down_;    ///< kDown to report

  LinkId last_link_ = 0;
  std::uint64_t uses_ = 0;
  TransportStats stats_;
};

}  // namespace

std::unique_ptr<Transport> make_stream_transport(const TransportOptions& options) {
  return std::make_unique<StreamTransport>(options);
}

}  // namespace stencil
