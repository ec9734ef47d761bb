#include "stencil/runtime/outbox.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stencil
