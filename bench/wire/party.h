#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

/// What wire_bench measures: one end of a connection between two processes. In each pass both ends
/// send every bucket of the model once as an offer and once as an answer, and receive as much.
namespace bench {

struct Traffic {
  std::span<const std::byte> model;     ///< the bytes to send; prepared before the fork
  std::size_t bucket = 0;               ///< bytes
  std::uint32_t window = 0;             ///< offers without an answer, where the program has offers
  std::chrono::milliseconds control{};  ///< from one control message to the next; 0: none

  [[nodiscard]] std::uint64_t buckets() const { return (model.size() + bucket - 1) / bucket; }
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t index) const {
    const std::size_t begin = index % buckets() * bucket;
    return model.subspan(begin, std::min(bucket, model.size() - begin));
  }
};

/// Times of control messages from end to end while the model was sent, in seconds.
struct Lateness {
  std::uint64_t count = 0;
  double median = 0, p99 = 0, worst = 0;
};

/// Used by one thread.
class Party {
 public:
  virtual ~Party() = default;
  /// Returns when `passes` more passes are done at this end.
  virtual void run(std::uint64_t passes) = 0;
  /// The lateness of the control messages of the last run, where the program has them.
  virtual Lateness lateness() { return {}; }
};

/// How the two ends find each other: the first passes its endpoint to the second.
struct Meeting {
  bool first = false;
  std::function<void(const std::string&)> tell;
  std::function<std::string()> ask;
};

using MakeParty = std::unique_ptr<Party> (*)(const Traffic&, const Meeting&);

/// tcp sockets, non-blocking, one thread, poll(). Each bucket follows a length of 8 bytes, as fast
/// as the socket accepts them, in pieces like those of the product's largest buckets, and is
/// received into one buffer. No window, no request and answer, no check.
std::unique_ptr<Party> make_raw_party(const Traffic& traffic, const Meeting& meeting);
/// libzmq alone: DEALER to DEALER, two parts, sent without a copy, dropped on receipt.
std::unique_ptr<Party> make_zmq_party(const Traffic& traffic, const Meeting& meeting);
/// The same with the product's checksum of each payload, made where it is sent and compared where
/// it is received: what the product reads of a payload, libzmq alone does not.
std::unique_ptr<Party> make_checked_zmq_party(const Traffic& traffic, const Meeting& meeting);
/// The product: encode_frame(), Transport and EventLoop, decode_frame(), all as a session does it,
/// with the arithmetic left out. Over bare sockets and over ZeroMQ, without and with keys.
std::unique_ptr<Party> make_tcp_party(const Traffic& traffic, const Meeting& meeting);
std::unique_ptr<Party> make_keyed_tcp_party(const Traffic& traffic, const Meeting& meeting);
std::unique_ptr<Party> make_zmq_transport_party(const Traffic& traffic, const Meeting& meeting);
std::unique_ptr<Party> make_keyed_zmq_party(const Traffic& traffic, const Meeting& meeting);

/// Counts offers and answers, and decides when to offer next.
class Ledger {
 public:
  explicit Ledger(const Traffic& traffic) : buckets_(traffic.buckets()), window_(traffic.window) {}
  void add_passes(std::uint64_t passes) { target_ += passes * buckets_; }
  [[nodiscard]] bool may_offer() const {
    if (offered_ == target_ || offered_ - completed_ >= window_) return false;
    // A pass begins when the one before is done, in both directions.
    return offered_ % buckets_ != 0 || (completed_ == offered_ && answered_ >= offered_);
  }
  std::uint64_t offer() { return offered_++; }
  std::uint64_t answer() { return answered_++; }
  void complete() { ++completed_; }
  [[nodiscard]] bool done() const { return completed_ == target_ && answered_ >= target_; }

 private:
  std::uint64_t buckets_, window_;
  std::uint64_t target_ = 0, offered_ = 0, completed_ = 0, answered_ = 0;
};

}  // namespace bench
