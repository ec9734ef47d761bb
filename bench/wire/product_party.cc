#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bench/wire/party.h"
#include "stencil/io/event_loop.h"
#include "stencil/transport/factory.h"
#include "stencil/wire/wire.h"

namespace bench {
namespace {

using stencil::Message;
using stencil::MessageKind;
using stencil::TimePoint;

stencil::TransportOptions options(const Traffic& traffic, bool listening) {
  stencil::TransportOptions options;
  if (listening) options.listen = "tcp://127.0.0.1:0";
  options.max_frame_bytes = traffic.bucket + 4096;
  options.queue_frames = 32UL * traffic.window;
  return options;
}

class ProductParty final : public Party {
 public:
  ProductParty(const Traffic& traffic, const Meeting& meeting)
      : traffic_(traffic),
        ledger_(traffic),
        transport_(stencil::make_transport(options(traffic, meeting.first))) {
    for (std::uint64_t b = 0; b < traffic.buckets(); ++b) {
      const auto bytes = traffic.at(b);
      payloads_.emplace_back(stencil::Bytes(bytes.begin(), bytes.end()));
    }
    if (meeting.first)
      meeting.tell(transport_->endpoint());
    else
      link_ = transport_->dial(meeting.ask());
    for (const int descriptor : transport_->descriptors()) loop_.watch(descriptor);
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
      if (wanted_ > 0) running_ = true;
      wanted_ = 0;
    }
    while (auto received = transport_->receive()) take(*received);
    do {
      offer();
      flush();
    } while (take_all());
    if (running_ && ledger_.done() && backlog_.empty()) {
      running_ = false;
      end("");
    }
    return stencil::kNever;
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
      push(MessageKind::kHeartbeat, 0);
    }
    if (received.event != stencil::LinkEvent::kFrame) return;
    up_ = true;
    stencil::Result<Message> message = decode_frame(received.frame);
    if (!message) throw std::runtime_error(message.error().text);
    if (message->kind == MessageKind::kReply) ledger_.settle();
    if (message->kind == MessageKind::kOffer) push(MessageKind::kReply, ledger_.answer());
    offer();
    flush();
  }

  void offer() {
    while (up_ && ledger_.may_offer()) push(MessageKind::kOffer, ledger_.offer());
  }

  void push(MessageKind kind, std::uint64_t index) {
    Message message;
    message.kind = kind;
    message.from = 1;
    message.sender_epoch = message.receiver_epoch = 1U << 29;
    message.step = 1000;
    message.sequence = index;
    message.bucket = static_cast<std::uint32_t>(index % payloads_.size());
    if (kind != MessageKind::kHeartbeat) message.payload = payloads_[message.bucket];
    backlog_.push_back(std::move(message));
  }

  void flush() {
    while (!backlog_.empty()) {
      switch (transport_->send(link_, encode_frame(backlog_.front()))) {
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

  // The loop's thread.
  Traffic traffic_;
  Ledger ledger_;
  std::unique_ptr<stencil::Transport> transport_;
  std::vector<stencil::Payload> payloads_;
  stencil::LinkId link_ = 0;
  bool up_ = false, running_ = false;
  std::deque<Message> backlog_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t wanted_ = 0;
  bool done_ = false;
  std::string failure_;

  stencil::EventLoop loop_;
};

}  // namespace

std::unique_ptr<Party> make_product_party(const Traffic& traffic, const Meeting& meeting) {
  return std::make_unique<ProductParty>(traffic, meeting);
}

}  // namespace bench
