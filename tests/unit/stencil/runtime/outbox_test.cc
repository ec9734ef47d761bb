#include "stencil/runtime/outbox.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "stencil/wire/wire.h"

namespace stencil {
namespace {

/// Takes as many frames as it has room for.
class NarrowTransport final : public Transport {
 public:
  std::string endpoint() const override { return ""; }
  LinkId dial(const PeerAddress&) override { return 0; }
  void drop(LinkId) override {}
  SendStatus send(LinkId, Frame&& frame) override {
    if (down) return SendStatus::kDown;
    if (room == 0) return SendStatus::kFull;
    --room;
    taken.push_back(std::move(frame).header);
    return SendStatus::kSent;
  }
  std::optional<Received> receive() override { return {}; }
  TransportStats stats() const override { return {}; }

  int room = 0;
  bool down = false;
  std::vector<decltype(Frame::header)> taken;
};

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() { to_.link.in_service = 1; }
  static Message message(MessageBody body) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.sender_epoch = message.header.receiver_epoch = 1;
    return message;
  }
  void send(MessageBody body) { outbox_.send(to_, message(std::move(body))); }
  static auto header(MessageBody body) { return encode_frame(message(std::move(body))).header; }

  static constexpr std::uint32_t kWindow = 2;
  NarrowTransport transport_;
  std::uint64_t dropped_ = 0;
  Outbox outbox_{transport_, kWindow, dropped_};
  Neighbour neighbour_{1};
  Edge to_{neighbour_};
};

TEST_F(OutboxTest, what_a_full_link_does_not_take_waits_in_its_order) {
  transport_.room = 1;
  send(Heartbeat{});
  send(Reply{.sequence = 1});
  send(Leave{});
  EXPECT_EQ(to_.link.backlog.size(), 2U);
  transport_.room = 2;
  outbox_.flush(to_);
  EXPECT_EQ(transport_.taken,
            (std::vector{header(Heartbeat{}), header(Reply{.sequence = 1}), header(Leave{})}));
  EXPECT_TRUE(to_.link.backlog.empty());
  EXPECT_EQ(dropped_, 0U);
  EXPECT_GT(to_.link.bytes_sent, 0U);
}

TEST_F(OutboxTest, beyond_its_bound_it_drops_what_is_sent_again_anyway_and_nothing_else) {
  for (int i = 0; i < 1000; ++i) send(Heartbeat{});
  const std::size_t most = to_.link.backlog.size();
  EXPECT_EQ(most, 64U + 2 * kWindow);
  EXPECT_EQ(dropped_, 1000 - most);
  send(Reply{.sequence = 1});
  EXPECT_EQ(to_.link.backlog.size(), most + 1);
  send(Pull{});
  EXPECT_EQ(to_.link.backlog.size(), most + 1);
}

TEST_F(OutboxTest, without_a_link_everything_is_dropped_and_counted) {
  to_.link.in_service = 0;
  send(Reply{.sequence = 1});
  EXPECT_TRUE(to_.link.backlog.empty());
  EXPECT_EQ(dropped_, 1U);
}

TEST_F(OutboxTest, what_waits_for_a_link_that_has_gone_is_counted_as_lost) {
  for (int i = 0; i < 3; ++i) send(Reply{.sequence = 1});
  transport_.down = true;
  outbox_.flush(to_);
  EXPECT_TRUE(to_.link.backlog.empty());
  EXPECT_EQ(dropped_, 3U);
}

/// The neighbour drops what is of an epoch that is over.
TEST_F(OutboxTest, payloads_that_wait_since_before_an_edge_began_anew_are_dropped) {
  send(Heartbeat{});
  send(Offer{.sequence = 1, .payload = Payload(Bytes(1000))});
  send(Offer{.sequence = 2, .payload = Payload(Bytes(1000))});
  EXPECT_EQ(to_.link.backlog.size(), 3U);
  Message anew = message(Hello{});
  ++anew.header.sender_epoch;
  outbox_.send(to_, anew);
  EXPECT_EQ(to_.link.backlog.size(), 2U);
  EXPECT_EQ(dropped_, 2U);
  anew.body = Offer{.sequence = 1, .payload = Payload(Bytes(1000))};
  outbox_.send(to_, anew);
  EXPECT_EQ(to_.link.backlog.size(), 3U);
  ++anew.header.receiver_epoch;
  outbox_.send(to_, anew);
  EXPECT_EQ(to_.link.backlog.size(), 3U) << "the one of now in the place of the other";
}

/// Payloads of 1000 bytes, at 1000 bytes a second.
class PacedOutboxTest : public OutboxTest {
 protected:
  PacedOutboxTest() {
    transport_.room = 1000;
    now_ += std::chrono::seconds(1);
    paced_.advance(now_);
    for (const Rank rank : {1, 2}) {
      neighbours_.emplace_back(rank);
      edges_.try_emplace(rank, neighbours_.back()).first->second.link.in_service = 1;
    }
  }
  void offer(Rank to, std::uint64_t sequence) {
    Offer body{.sequence = sequence, .payload = Payload(Bytes(1000))};
    paced_.send(edges_.at(to), message(std::move(body)));
  }
  /// Waits until the next payload may be sent.
  void pass() {
    now_ = paced_.next(edges_);
    ASSERT_NE(now_, kNever);
    paced_.advance(now_);
    paced_.take_turns(edges_);
  }
  [[nodiscard]] std::size_t waiting(Rank rank) const { return edges_.at(rank).link.backlog.size(); }

  TimePoint now_{};
  std::deque<Neighbour> neighbours_;
  Edges edges_;
  Outbox paced_{transport_, kWindow, dropped_, Integrity::kChecksum, Pacer(1000)};
};

TEST_F(PacedOutboxTest, payloads_wait_for_the_rate_and_nothing_is_dropped) {
  for (int i = 1; i <= 3; ++i) offer(1, i);
  EXPECT_TRUE(transport_.taken.empty()) << "until edges take turns";
  const TimePoint begun = now_;
  paced_.take_turns(edges_);
  EXPECT_EQ(transport_.taken.size(), 1U);
  pass();
  pass();
  EXPECT_EQ(transport_.taken.size(), 3U);
  EXPECT_GE(now_ - begun, std::chrono::milliseconds(1750));
  EXPECT_EQ(dropped_, 0U);
  EXPECT_EQ(paced_.next(edges_), kNever);
}

TEST_F(PacedOutboxTest, a_heartbeat_waits_for_nothing) {
  for (int i = 1; i <= 3; ++i) offer(1, i);
  paced_.take_turns(edges_);
  paced_.send(edges_.at(1), message(Heartbeat{}));
  EXPECT_EQ(transport_.taken.size(), 2U);
  EXPECT_EQ(waiting(1), 2U);
}

TEST_F(PacedOutboxTest, no_edge_starves_another) {
  for (int i = 1; i <= 4; ++i) offer(1, i);
  for (int i = 1; i <= 2; ++i) offer(2, i);
  paced_.take_turns(edges_);
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(waiting(1), 2U);
  EXPECT_EQ(waiting(2), 0U);
}

TEST_F(PacedOutboxTest, who_leaves_waits_no_more) {
  for (int i = 1; i <= 3; ++i) offer(1, i);
  paced_.hurry();
  paced_.flush(edges_);
  EXPECT_EQ(waiting(1), 0U);
}

}  // namespace
}  // namespace stencil
