#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bench/wire/known_keys.h"
#include "bench/wire/party.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/factory.h"
#include "stencil/wire/wire.h"

namespace bench {
namespace {

using stencil::Message;
using stencil::TimePoint;

constexpr std::uint64_t kNoTime = 1000;  ///< in place of the time, in a message without one

/// A transport of the product.
struct Kind {
  std::string scheme;
  bool keys = false;
};

stencil::TransportOptions options(const Traffic& traffic, bool listening, const Kind& kind,
                                  stencil::EventLoop& loop) {
  stencil::TransportOptions options{.loop = &loop};
  // An address of its own for each end, so that thin_link.sh can tell directions apart.
  if (listening) options.listen = kind.scheme + "127.0.0.2:0";
  if (kind.keys) options.keys = [ring = known_keys(listening)] { return ring; };
  options.max_frame_bytes = traffic.bucket + 4096;
  options.queue_frames = 32UL * traffic.window;
  return options;
}

class ProductParty final : public Party {
 public:
  ProductParty(const Traffic& traffic, const Meeting& meeting, const Kind& kind)
      : traffic_(traffic),
        ledger_(traffic),
        transport_(stencil::make_transport(options(traffic, meeting.first, kind, loop_))) {
    for (std::uint64_t b = 0; b < traffic.buckets(); ++b) {
      const auto bytes = traffic.at(b);
      payloads_.emplace_back(stencil::Bytes(bytes.begin(), bytes.end()));
    }
    if (meeting.first)
      meeting.tell(transport_->endpoint());
    else if (kind.keys)
      link_ = transport_->dial({meeting.ask(), known_keys(true)->own_public});
    else
      link_ = transport_->dial(meeting.ask());
    loop_.start([this](TimePoint) { return turn(); },
                [this](const std::string& what) { end(what); });
  }
  ~ProductParty() override { loop_.stop(); }

  void run(std::uint64_t passes) override {
    std::unique_lock lock(mutex_);
    wanted_ += passes;
    done_ = false;
    loop_.wake();
    changed_.wait(lock, [this] { return done_ || !failure_.empty(); });
    if (!failure_.empty()) throw std::runtime_error("the product: " + failure_);
  }

  Lateness lateness() override {
    const std::lock_guard lock(mutex_);
    if (lateness_.empty()) return {};
    std::ranges::sort(lateness_);
    const std::size_t n = lateness_.size();
    return {n, lateness_[n / 2], lateness_[n - 1 - n / 100], lateness_.back()};
  }

 private:
  void end(const std::string& failure) {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    done_ = failure.empty();
    changed_.notify_all();
  }

  TimePoint turn() {
    {
      const std::lock_guard lock(mutex_);
      ledger_.add_passes(wanted_);
      if (wanted_ > 0) {
        running_ = true;
        lateness_.clear();
      }
      wanted_ = 0;
    }
    control();
    while (auto received = transport_->receive()) take(*received);
    do {
      offer();
      flush();
    } while (take_all());
    if (running_ && ledger_.done() && backlog_.empty()) {
      running_ = false;
      end("");
    }
    return running_ && traffic_.control.count() > 0 ? next_control_ : stencil::kNever;
  }

  /// Sends a heartbeat with its time of sending when one is due. Both processes use the same clock.
  void control() {
    const TimePoint now = stencil::EventLoop::now();
    if (!running_ || !up_ || traffic_.control.count() == 0 || now < next_control_) return;
    next_control_ = now + traffic_.control;
    Message message = message_of(stencil::Heartbeat{});
    message.header.step = static_cast<std::uint64_t>(now.time_since_epoch().count());
    if (transport_->send(link_, encode_frame(message)) != stencil::SendStatus::kSent)
      throw std::runtime_error("a control message was refused");
  }

  void note_lateness(const Message& message) {
    const std::uint64_t step = message.header.step;
    if (step == kNoTime) return;
    const TimePoint sent{stencil::Duration(static_cast<stencil::Duration::rep>(step))};
    const std::chrono::duration<double> late = stencil::EventLoop::now() - sent;
    const std::lock_guard lock(mutex_);
    lateness_.push_back(late.count());
  }

  bool take_all() {
    bool any = false;
    while (auto received = transport_->receive()) {
      take(*received);
      any = true;
    }
    return any;
  }

  void take(const stencil::Received& received) {
    link_ = received.link;
    if (received.event == stencil::LinkEvent::kUp) {
      up_ = true;
      push(stencil::Heartbeat{});
    }
    if (received.event != stencil::LinkEvent::kFrame) return;
    up_ = true;
    if (received.proven) integrity_ = stencil::Integrity::kProven;
    stencil::Result<Message> message = decode_frame(received.frame, integrity_);
    if (!message) throw std::runtime_error(message.error().text);
    if (message->is<stencil::Heartbeat>()) note_lateness(*message);
    if (message->is<stencil::Reply>()) ledger_.complete();
    if (message->is<stencil::Offer>()) push(bucket_of<stencil::Reply>(ledger_.answer()));
    offer();
    flush();
  }

  void offer() {
    while (up_ && ledger_.may_offer()) push(bucket_of<stencil::Offer>(ledger_.offer()));
  }

  void push(stencil::MessageBody body) { backlog_.push_back(message_of(std::move(body))); }

  [[nodiscard]] static Message message_of(stencil::MessageBody body) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.from = 1;
    message.header.sender_epoch = message.header.receiver_epoch = 1U << 29;
    message.header.step = kNoTime;
    return message;
  }

  /// The `index`-th offer or reply, with its bucket.
  template <typename Body>
  [[nodiscard]] Body bucket_of(std::uint64_t index) const {
    Body body;
    body.sequence = index;
    body.bucket = static_cast<std::uint32_t>(index % payloads_.size());
    body.payload = payloads_[body.bucket];
    return body;
  }

  void flush() {
    while (!backlog_.empty()) {
      switch (transport_->send(link_, encode_frame(backlog_.front(), integrity_))) {
        case stencil::SendStatus::kSent:
          backlog_.pop_front();
          break;
        case stencil::SendStatus::kFull:
          return;
        case stencil::SendStatus::kDown:
          throw std::runtime_error("the link is down");
      }
    }
  }

  stencil::EventLoop loop_;

  // The loop's thread.
  Traffic traffic_;
  Ledger ledger_;
  std::unique_ptr<stencil::Transport> transport_;
  std::vector<stencil::Payload> payloads_;
  stencil::LinkId link_ = 0;
  stencil::Integrity integrity_ = stencil::Integrity::kChecksum;
  bool up_ = false, running_ = false;
  TimePoint next_control_{};
  std::deque<Message> backlog_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t wanted_ = 0;
  bool done_ = false;
  std::string failure_;
  std::vector<double> lateness_;  ///< s, of each control message of this run
};

}  // namespace

std::unique_ptr<Party> make_tcp_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ProductParty>(traffic, meeting, Kind{.scheme = "tcp://"});
}
std::unique_ptr<Party> make_keyed_tcp_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ProductParty>(traffic, meeting, Kind{.scheme = "tcp://", .keys = true});
}
std::unique_ptr<Party> make_zmq_transport_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ProductParty>(traffic, meeting, Kind{.scheme = "zmq://"});
}
std::unique_ptr<Party> make_keyed_zmq_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ProductParty>(traffic, meeting, Kind{.scheme = "zmq://", .keys = true});
}

}  // namespace bench
