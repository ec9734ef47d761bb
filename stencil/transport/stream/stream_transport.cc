// Invariants:
//   1. A frame is received before the end of its connection is reported.
//   2. A connection accepted on our port ends in exactly one of two ways: as a link that goes
//      down, or, if it never sent a frame of our shape, as a stranger.
//   3. Every connection that may have something to give stands in line (Peers), and the loop waits
//   for
//      the others: so receive() gives nothing only when nothing is there.

#include "stencil/transport/stream/stream_transport.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/stream/acceptor.h"
#include "stencil/transport/stream/dialler.h"
#include "stencil/transport/stream/peer.h"
#include "stencil/transport/stream/tls.h"

namespace stencil {
namespace {

/// What has no timer of its own goes by ticks.
constexpr Duration kTick = std::chrono::seconds(1);
/// How often whoever leaves looks whether all has been heard.
constexpr Duration kLook = std::chrono::milliseconds(1);
constexpr int kGreetingTicks = 6;  ///< for a stranger who connects and says nothing
/// Connections looked into for nothing in one call of receive().
constexpr int kMostFruitless = 4096;

class StreamTransport final : public Transport {
 public:
  explicit StreamTransport(const TransportOptions& options)
      : options_(options),
        loop_(loop_of(options)),
        tick_(loop_, [this] { on_tick(); }),
        peers_(options_, [this] { noted(); }),
        dialler_(options_,
                 {.socket =
                      [this](Dialled& dialled, Descriptor&& socket, Connection::State state) {
                        add_dialled(dialled, std::move(socket), state);
                      },
                  .late = [this](Peer& peer) { (void)finish(peer); }}) {
    if (options.keys) {
      tls_.emplace();
      keys_ = options.keys();
    }
    if (options.listen.empty()) return;
    acceptor_.emplace(options_, [this] {
      accepting_ = true;
      noted();
    });
  }

  /// Says good-bye to all, for as long as they take to hear it, `linger` at most.
  ~StreamTransport() override {
    acceptor_.reset();
    while (dialler_.size() > 0) drop(dialler_.last());
    for (const auto& peer : peers_) leave(*peer);
    bool patient = true;
    Alarm patience(loop_, [&patient] { patient = false; });
    patience.set_after(options_.linger);
    tick_.cancel();
    while (patient && !std::ranges::all_of(
                          peers_, [](const auto& peer) { return peer->connection.may_close(); })) {
      (void)loop_.wait_for(kLook);
      // Whoever sends without end does not keep us.
      for (std::size_t i = peers_.ready(); i > 0 && peers_.ready() > 0; --i)
        (void)from_next_ready();
    }
  }

  [[nodiscard]] std::string endpoint() const override {
    return acceptor_ ? acceptor_->endpoint() : std::string();
  }

  LinkId dial(const PeerAddress& address) override {
    check_key(address, keys_ != nullptr);
    heed_keys();
    dialler_.dial(last_link_ + 1, address);
    return ++last_link_;
  }

  void drop(LinkId link) override {
    std::erase(down_, link);
    if (const auto known = inbound_.find(link); known != inbound_.end()) return forget(known);
    Dialled* const dialled = dialler_.find(link);
    if (dialled == nullptr) return;
    if (dialled->peer != nullptr) {
      dialled->peer->dialled = nullptr;
      leave(*dialled->peer);
    }
    dialler_.erase(*dialled);
  }

  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    const std::size_t header = frame.header.size(), payload = view(frame.payload).size();
    if (header > kMaxHeaderBytes || payload > options_.max_frame_bytes)
      throw InvariantError("a frame of " + std::to_string(header) + " + " +
                           std::to_string(payload) + " bytes is over max_frame_bytes");
    Peer* const peer = peer_of(link);
    if (peer == nullptr) return SendStatus::kDown;
    const SendStatus status = peer->connection.send(std::move(frame));
    peers_.make_ready(*peer);  // the write may have shown that the end is near
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
      while (peers_.ready() > 0) {
        if (std::optional<Received> received = from_next_ready()) return received;
        if (++fruitless < kMostFruitless) continue;
        loop_.ask();  // what is left is for the next call
        return std::nullopt;
      }
      heed_keys();
    } while (look());
    return std::nullopt;
  }

  [[nodiscard]] TransportStats stats() const override {
    TransportStats stats = stats_;
    for (const auto& peer : peers_) stats.held += peer->connection.held();
    return stats;
  }

 private:
  using Inbound = std::map<LinkId, Peer*>;

  /// Lets all that has happened be noted. False: nothing has.
  bool look() {
    receiving_ = true;
    loop_.poll();
    receiving_ = false;
    if (std::exchange(accepting_, false)) accept();
    return peers_.ready() > 0 || !down_.empty();
  }

  /// Asks for a call of receive(), where none is under way.
  void noted() {
    if (!receiving_) loop_.ask();
  }

  /// Connections whose key is nobody's any more end; all do once our own is another.
  void heed_keys() {
    if (!options_.keys) return;
    std::shared_ptr<const KeyRing> now = options_.keys();
    if (now == keys_) return;
    const bool own = now->own_public != keys_->own_public;
    keys_ = std::move(now);
    std::vector<Peer*> over;
    for (const auto& peer : peers_) {
      const bool open = peer->connection.state() == Connection::State::kOpen;
      if (open) peer->rank = keys_->rank_of(peer->connection.tls()->proven());
      if (own || (open && !peer->rank)) over.push_back(peer.get());
    }
    for (Peer* const peer : over) {
      if (const auto down = finish(*peer)) down_.push_back(down->link);
    }
  }

  void add_dialled(Dialled& dialled, Descriptor&& socket, Connection::State state) {
    std::unique_ptr<TlsChannel> tls;
    if (tls_)
      tls = std::make_unique<TlsChannel>(
          *tls_, socket.get(), keys_, key_to_ask_for(*keys_, *dialled.key, dialled.attempts - 1));
    dialled.peer = &peers_.add(std::move(socket), state, std::move(tls));
    dialled.peer->dialled = &dialled;
  }

  /// The proof of a key goes on. False: it has failed.
  bool prove(Peer& peer) {
    if (!peer.connection.prove()) return true;
    const TlsChannel& tls = *peer.connection.tls();
    if (peer.connection.state() == Connection::State::kOpen) {
      peer.rank = keys_->rank_of(tls.proven());
      return peer.rank.has_value();
    }
    if (const auto why = tls.why()) complain(options_, *why, tls.named());
    return false;
  }

  /// The first in turn gives what it has, and stands at the end again if there may be more.
  std::optional<Received> from_next_ready() {
    Peer& peer = peers_.take_ready();
    if (!prove(peer)) return finish(peer);
    if (peer.dialled != nullptr && !peer.dialled->up &&
        peer.connection.state() == Connection::State::kOpen) {
      peers_.make_ready(peer);
      peer.dialled->alarm->cancel();
      peer.dialled->up = true;
      return Received{LinkEvent::kUp, peer.dialled->id, {}, peer.rank};
    }
    std::optional<Frame> frame = peer.connection.receive();
    if (frame) {
      peers_.make_ready(peer);
      return Received{LinkEvent::kFrame, note_frame(peer, *frame), *std::move(frame), peer.rank};
    }
    if (!keys_ && peer.stranger && peer.connection.wants_keys())
      complain(options_, Stranger::kWantsKey, {});
    if (peer.connection.state() == Connection::State::kEnded) return finish(peer);
    if (peer.connection.has_more()) peers_.make_ready(peer);
    Peers::wait_for(peer);
    if (peer.dialled != nullptr) return std::nullopt;
    Peer* const one_too_many = peers_.one_partial_too_many(peer);
    return one_too_many == nullptr ? std::nullopt : finish(*one_too_many);
  }

  /// Which link it came on: a new one where the sender had none.
  LinkId note_frame(Peer& peer, const Frame& frame) {
    ++stats_.frames_received;
    stats_.bytes_received += frame.header.size() + view(frame.payload).size();
    peer.last_used = ++uses_;
    if (peer.dialled != nullptr) {
      peer.dialled->backoff->restart();
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
    peers_.make_ready(peer);
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
      dialler_.try_again(d);
    } else if (const auto known = inbound_.find(peer.link); known != inbound_.end()) {
      down = Received{LinkEvent::kDown, peer.link, {}};
      inbound_.erase(known);
    } else if (peer.stranger) {
      ++stats_.strangers;
    }
    peers_.erase(peer);
    return down;
  }

  Peer* peer_of(LinkId link) {
    if (const auto known = inbound_.find(link); known != inbound_.end()) return known->second;
    const Dialled* const dialled = dialler_.find(link);
    return dialled != nullptr && dialled->up ? dialled->peer : nullptr;
  }

  void accept() {
    const bool done = acceptor_->accept([this](Descriptor&& socket) {
      make_way();
      auto tls = tls_ ? std::make_unique<TlsChannel>(*tls_, socket.get(), keys_) : nullptr;
      peers_.add(std::move(socket), Connection::State::kOpen, std::move(tls)).stranger = true;
      tick();
    });
    if (done) return;
    ++stats_.strangers;
    tick();  // accepts again
  }

  /// Strangers without end must not use up all descriptors: the one longest silent goes.
  void make_way() {
    const auto strangers =
        std::ranges::count_if(peers_, [](const auto& peer) { return peer->stranger; });
    if (peers_.size() < 2 * options_.max_links + dialler_.size() &&
        static_cast<std::size_t>(strangers) < acceptor_->most_strangers())
      return;
    (void)finish(peers_.longest_silent());
  }

  /// Sees to it that a tick comes; one that is under way is not put off.
  void tick() {
    if (!std::exchange(ticking_, true)) tick_.set_after(kTick);
  }

  void on_tick() {
    ticking_ = false;
    if (acceptor_) acceptor_->wait();
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
  std::optional<TlsContext> tls_;        ///< where keys are in use
  std::shared_ptr<const KeyRing> keys_;  ///< null: no keys are in use
  std::optional<Acceptor> acceptor_;
  bool accepting_ = false;  ///< somebody waits to be accepted
  Peers peers_;
  Dialler dialler_;
  Inbound inbound_;
  std::vector<LinkId> down_;  ///< kDown to report

  LinkId last_link_ = 0;
  std::uint64_t uses_ = 0;
  TransportStats stats_;
};

}  // namespace

std::unique_ptr<Transport> make_stream_transport(const TransportOptions& options) {
  return std::make_unique<StreamTransport>(options);
}

}  // namespace stencil
