#include "stencil/transport/zmq/zmq_transport.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/transport/zmq/zap.h"
#include "stencil/transport/zmq/zmq_dialled.h"
#include "stencil/transport/zmq/zmq_listener.h"

namespace stencil {
namespace {

class ZmqTransport final : public Transport {
 public:
  explicit ZmqTransport(const TransportOptions& options) try
      : shared_(
            options, [this] { note(room_); }, [this] { look_around(); }),
        zap_(shared_.context),
        questions_(shared_.loop, zap_.descriptor(), [this] { note(asked_); }) {
    if (options.keys) shared_.keys = options.keys();
    questions_.wait_readable();
    shared_.hangup.emplace(zap_.descriptor());
    if (!options.listen.empty()) listener_.emplace(shared_);
  } catch (const zmq::error_t& error) {
    throw ResourceError(std::string("cannot start ZeroMQ: ") + error.what(),
                        "raise the limit of open files (ulimit -n)");
  }

  /// What waits is sent for as long as that takes, `linger` at most.
  ~ZmqTransport() override {
    bool patient = true;
    Alarm patience(shared_.loop, [&] {
      patient = false;
      shared_.loop.ask();
    });
    patience.set_after(shared_.options.linger);
    hand_on();
    while (patient && !idle()) {
      (void)shared_.loop.wait(kNever);
      answer();
      hand_on();
      if (EventSource* const source = shared_.ready.take()) (void)source->next();
      if (!shared_.ready.empty()) shared_.loop.ask();
    }
  }

  [[nodiscard]] std::string endpoint() const override {
    return listener_ ? listener_->endpoint() : std::string();
  }

  LinkId dial(const PeerAddress& address) override {
    heed_keys();
    const LinkId id = shared_.last_link + 1;
    dialled_.emplace(std::piecewise_construct, std::forward_as_tuple(id),
                     std::forward_as_tuple(shared_, id, address));
    return ++shared_.last_link;
  }

  void drop(LinkId link) override {
    dialled_.erase(link);
    if (listener_) listener_->drop(link);
  }

  [[nodiscard]] SendStatus send(LinkId link, Frame&& frame) override {
    const std::size_t header = frame.header.size(), payload = view(frame.payload).size();
    if (header > kMaxHeaderBytes || payload > shared_.options.max_frame_bytes) {
      throw InvariantError("a frame of " + std::to_string(header) + " + " +
                           std::to_string(payload) + " bytes is over max_frame_bytes");
    }
    SendStatus status = SendStatus::kDown;
    if (const auto dialled = dialled_.find(link); dialled != dialled_.end()) {
      status = dialled->second.send(std::move(frame));
    } else if (listener_ && listener_->has(link)) {
      status = listener_->send(link, std::move(frame));
    }
    if (status != SendStatus::kSent) return status;
    ++shared_.stats.frames_sent;
    shared_.stats.bytes_sent += header + payload;
    return status;
  }

  [[nodiscard]] std::optional<Received> receive() override {
    do {
      while (EventSource* const source = shared_.ready.take()) {
        if (std::optional<Received> received = source->next()) {
          count(*received);
          return received;
        }
        hand_on();  // libzmq's own room comes with the descriptor of what is received
      }
      heed_keys();
    } while (look());
    return std::nullopt;
  }

  [[nodiscard]] TransportStats stats() const override {
    TransportStats stats = shared_.stats;
    if (listener_) stats.held += listener_->held();
    for (const auto& [id, dialled] : dialled_) stats.held += dialled.held();
    return stats;
  }

 private:
  void note(bool& what) {
    what = true;
    shared_.noted();
  }

  /// At what libzmq holds of connections, which bounds neither their number nor their messages.
  void look_around() {
    Duration next = listener_ ? listener_->look() : Duration::max();
    for (auto& [id, dialled] : dialled_) {
      if (dialled.look()) next = std::min(next, ZmqShared::kLookEvery);
    }
    if (next != Duration::max()) shared_.look.set_after(next);
  }

  /// Lets all that has happened be noted. False: nothing has.
  bool look() {
    shared_.receiving = true;
    shared_.loop.poll();
    shared_.receiving = false;
    answer();
    if (std::exchange(room_, false)) hand_on();
    return !shared_.ready.empty();
  }

  /// libzmq, which asks who may be here.
  void answer() {
    if (!std::exchange(asked_, false)) return;
    zap_.serve(shared_.keys.get(), [this](const PublicKey& key) {
      complain(shared_.options, Stranger::kUnknownKey, key);
    });
    questions_.wait_readable();
  }

  void count(const Received& received) {
    if (received.event != LinkEvent::kFrame) return;
    ++shared_.stats.frames_received;
    shared_.stats.bytes_received +=
        received.frame.header.size() + view(received.frame.payload).size();
  }

  /// Gives libzmq what it takes now. A link that has refused a frame may take one again.
  void hand_on() {
    bool room = listener_ && listener_->hand_on();
    for (auto& [id, dialled] : dialled_) room = dialled.hand_on() || room;
    if (room) shared_.loop.ask();
  }

  [[nodiscard]] bool idle() const {
    return (!listener_ || listener_->idle()) &&
           std::ranges::all_of(dialled_, [](const auto& entry) { return entry.second.idle(); });
  }

  void heed_keys() {
    if (!shared_.options.keys) return;
    std::shared_ptr<const KeyRing> now = shared_.options.keys();
    if (now == shared_.keys) return;
    const bool own = now->own_public != shared_.keys->own_public;
    shared_.keys = std::move(now);
    for (auto& [id, dialled] : dialled_) dialled.heed_keys(own);
    if (listener_) listener_->heed_keys(own);
  }

  bool room_ = false, asked_ = false;  ///< noted, and still to be heeded
  ZmqShared shared_;
  Zap zap_;
  Watch questions_;
  std::optional<ZmqListener> listener_;
  std::map<LinkId, ZmqDialled> dialled_;
};

}  // namespace

std::unique_ptr<Transport> make_zmq_transport(const TransportOptions& options) {
  return std::make_unique<ZmqTransport>(options);
}

}  // namespace stencil
