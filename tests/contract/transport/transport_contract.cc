// Frames: complete, in order, bounded, and delivered to the right receiver only.
#include "tests/contract/transport/transport_contract.h"

#include <array>
#include <future>
#include <map>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"

namespace stencil::contract {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportContract);

TEST_P(TransportContract, FramesOfAllSizesArriveWholeAndInOrderBothWays) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = connect(*client, *server);
  constexpr std::array<std::size_t, 3> kSizes = {0, 1, 262144};
  LinkId inbound = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    send_in_time(*client, link, numbered_frame(i, kSizes[i % 3]));
    Received received = expect_frame(*server, client.get());
    expect_numbered(received.frame, i, kSizes[i % 3]);
    if (i == 0) inbound = received.link;
    EXPECT_EQ(received.link, inbound);
    EXPECT_EQ(!received.frame.payload, i % 3 == 0) << "no payload is a null one";
  }
  for (std::uint64_t i = 0; i < 30; ++i)
    send_in_time(*server, inbound, numbered_frame(100 + i, kSizes[i % 3]));
  for (std::uint64_t i = 0; i < 30; ++i) {
    Received received = expect_frame(*client, server.get());
    EXPECT_EQ(received.link, link);
    expect_numbered(received.frame, 100 + i, kSizes[i % 3]);
  }
}

TEST_P(TransportContract, ManyLinksKeepTheirFramesApart) {
  constexpr std::uint64_t kClients = 12, kFrames = 20;
  auto server = listener();
  std::vector<std::unique_ptr<Transport>> clients;
  std::vector<LinkId> links;
  for (std::uint64_t c = 0; c < kClients; ++c) {
    clients.push_back(dialler());
    links.push_back(connect(*clients.back(), *server));
  }
  for (std::uint64_t f = 0; f < kFrames; ++f) {
    for (std::uint64_t c = 0; c < kClients; ++c)
      send_in_time(*clients[c], links[c], numbered_frame(c * 1000 + f, 100));
  }
  std::map<LinkId, std::uint64_t> client_of, next;
  for (std::uint64_t i = 0; i < kClients * kFrames; ++i) {
    const Received received = expect_frame(*server);
    const std::uint64_t number = number_of(received.frame);
    const auto entry = client_of.emplace(received.link, number / 1000).first;
    EXPECT_EQ(entry->second, number / 1000) << "one link, one client";
    EXPECT_EQ(number % 1000, next[received.link]++) << "in order";
  }
  ASSERT_EQ(client_of.size(), kClients);
  for (const auto& [link, client] : client_of)
    send_in_time(*server, link, numbered_frame(client, 1));
  for (std::uint64_t c = 0; c < kClients; ++c)
    expect_numbered(expect_frame(*clients[c]).frame, c, 1);
}

TEST_P(TransportContract, ALinkThatNobodyReadsFillsUpAndThenFlowsOn) {
  TransportOptions options;
  options.queue_frames = 8;
  auto server = listener(options);
  auto client = dialler(options);
  const LinkId link = connect(*client, *server);
  const Frame model = numbered_frame(0, 65536);
  // Twice the queues, plus what the system's buffers hold.
  constexpr std::uint64_t kMost = 2000;
  std::uint64_t sent = 0;
  const auto next_frame = [&] {
    Frame frame = numbered_frame(sent, 0);
    frame.payload = model.payload;
    return frame;
  };
  for (bool full = false; !full;) {
    Frame frame = next_frame();
    switch (client->send(link, std::move(frame))) {
      case SendStatus::kSent:
        ASSERT_LT(++sent, kMost) << "a queue without a bound";
        break;
      case SendStatus::kFull:
        EXPECT_EQ(number_of(frame), sent) << "a refused frame is left alone";
        EXPECT_EQ(frame.payload, model.payload);
        full = sent > 0;  // before that the connection is only just being made
        break;
      case SendStatus::kDown:
        FAIL() << "the link went down";
    }
  }
  EXPECT_GE(sent, 1U);
  const std::uint64_t before = sent;
  for (std::uint64_t i = 0; i < before; ++i)
    EXPECT_EQ(number_of(expect_frame(*server, client.get()).frame), i);
  for (std::uint64_t i = 0; i < 100; ++i, ++sent) {
    send_in_time(*client, link, next_frame());
    EXPECT_EQ(number_of(expect_frame(*server, client.get()).frame), sent);
  }
}

TEST_P(TransportContract, AFullInboundLinkSaysSoAndItsSenderIsWokenWhenThereIsRoom) {
  TransportOptions options;
  options.queue_frames = 4;
  auto server = listener(options);
  auto client = dialler(options);
  const LinkId link = connect(*client, *server);
  send_in_time(*client, link, numbered_frame(0, 1));
  const LinkId inbound = expect_frame(*server).link;
  const Frame model = numbered_frame(0, 65536);
  std::uint64_t sent = 0;
  while (true) {
    Frame frame = numbered_frame(sent, 0);
    frame.payload = model.payload;
    const SendStatus status = server->send(inbound, std::move(frame));
    if (status != SendStatus::kSent) {
      EXPECT_EQ(status, SendStatus::kFull);
      break;
    }
    ASSERT_LT(++sent, 2000U);
  }
  int woken = 0;  // the client too may want a turn, which it does not get
  do {
    EXPECT_FALSE(server->receive().has_value());
    ASSERT_LT(++woken, 100) << "a full link must not keep its sender awake";
  } while (wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
  std::uint64_t got = 0;
  for (; got < sent; ++got) EXPECT_EQ(number_of(expect_frame(*client, server.get()).frame), got);
  send_in_time(*server, inbound, numbered_frame(sent, 1));
  EXPECT_EQ(number_of(expect_frame(*client).frame), sent);
}

TEST_P(TransportContract, UrgentFramesOvertakePayloadsThatWait) {
  TransportOptions options;
  options.queue_frames = 8;
  auto server = listener(options);
  auto client = dialler(options);
  const LinkId link = connect(*client, *server);
  const Frame model = numbered_frame(0, 65536);
  std::uint64_t sent = 0;
  for (SendStatus status = SendStatus::kSent; status == SendStatus::kSent;) {
    Frame frame = numbered_frame(sent, 0);
    frame.payload = model.payload;
    status = client->send(link, std::move(frame));
    ASSERT_NE(status, SendStatus::kDown);
    if (status == SendStatus::kSent) ++sent;
    ASSERT_LT(sent, 2000U);
  }
  constexpr std::uint64_t kNews = 1U << 30;
  Frame news = numbered_frame(kNews, 0);
  news.urgent = true;
  ASSERT_EQ(client->send(link, std::move(news)), SendStatus::kSent) << "it has room beyond";
  std::uint64_t before = 0;
  while (number_of(expect_frame(*server, client.get()).frame) != kNews) {
    ASSERT_LT(++before, sent) << "it has waited for all of them";
  }
  for (; before < sent; ++before) {
    EXPECT_EQ(number_of(expect_frame(*server, client.get()).frame), before) << "and the rest waits";
  }
}

TEST_P(TransportContract, OneFloodingLinkDoesNotStarveAnother) {
  auto server = listener();
  auto flooder = dialler();
  auto quiet = dialler();
  auto other = listener();
  const LinkId flood_link = connect(*flooder, *server);
  const LinkId quiet_link = connect(*quiet, *server);
  const LinkId dialled = connect(*server, *other);
  send_in_time(*server, dialled, numbered_frame(1, 1));
  const LinkId to_server = expect_frame(*other).link;
  send_in_time(*flooder, flood_link, numbered_frame(0, 1));
  send_in_time(*quiet, quiet_link, numbered_frame(7, 1));
  send_in_time(*other, to_server, numbered_frame(8, 1));
  bool quiet_heard = false, other_heard = false;
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!quiet_heard || !other_heard) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    for (int i = 0; i < 8; ++i) (void)flooder->send(flood_link, numbered_frame(0, 1));
    for (int i = 0; i < 4; ++i) {
      const auto received = server->receive();
      if (!received || received->event != LinkEvent::kFrame) continue;
      quiet_heard |= number_of(received->frame) == 7;
      other_heard |= number_of(received->frame) == 8;
    }
  }
}

TEST_P(TransportContract, ATooLargeFrameNeverArrivesAndHarmsNobody) {
  TransportOptions small;
  small.max_frame_bytes = 8192;
  auto server = listener(small);
  auto good = dialler(small);
  auto bad = dialler();
  const LinkId good_link = connect(*good, *server);
  const LinkId bad_link = connect(*bad, *server);
  send_in_time(*good, good_link, numbered_frame(1, 8192));
  expect_numbered(expect_frame(*server).frame, 1, 8192);
  send_in_time(*bad, bad_link, numbered_frame(2, 8193));
  EXPECT_EQ(expect_event(*bad, LinkEvent::kDown, server.get()).link, bad_link);
  EXPECT_EQ(expect_event(*bad, LinkEvent::kUp, server.get()).link, bad_link);
  send_in_time(*good, good_link, numbered_frame(3, 10));
  expect_numbered(expect_frame(*server).frame, 3, 10);
  send_in_time(*bad, bad_link, numbered_frame(4, 10));
  expect_numbered(expect_frame(*server).frame, 4, 10);
  EXPECT_EQ(good->send(good_link, numbered_frame(5, 8192)), SendStatus::kSent);
  EXPECT_EQ(server->stats().strangers, 1U);
  EXPECT_THROW((void)good->send(good_link, numbered_frame(6, 8193)), InvariantError)
      << "one's own frames are known to be small enough";
}

TEST_P(TransportContract, CountsAddUp) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = connect(*client, *server);
  for (std::uint64_t i = 0; i < 10; ++i) send_in_time(*client, link, numbered_frame(i, 100 * i));
  LinkId inbound = 0;
  for (int i = 0; i < 10; ++i) inbound = expect_frame(*server).link;
  send_in_time(*server, inbound, numbered_frame(1, 7));
  expect_frame(*client);
  const TransportStats up = client->stats(), down = server->stats();
  EXPECT_EQ(up.frames_sent, 10U);
  EXPECT_EQ(up.bytes_sent, 10U * 8 + 4500);
  EXPECT_EQ(down.frames_received, up.frames_sent);
  EXPECT_EQ(down.bytes_received, up.bytes_sent);
  EXPECT_EQ(down.frames_sent, 1U);
  EXPECT_EQ(up.bytes_received, 15U);
  EXPECT_EQ(up.bytes_received, down.bytes_sent);
  EXPECT_EQ(up.strangers + down.strangers + up.discarded + down.discarded, 0U);
}

/// One worker's thread: increments the number of a frame and sends it back, up to a limit.
class Player {
 public:
  Player(TransportWorld& world, const std::string& listen, std::uint64_t last)
      : transport_(world.make({.loop = &loop_, .listen = listen})), last_(last) {}
  [[nodiscard]] Transport& transport() { return *transport_; }
  void start(LinkId serve_to) {
    loop_.start(
        [this, serve_to](TimePoint) {
          turn(serve_to);
          return kNever;
        },
        [](const std::string& what) { ADD_FAILURE() << what; });
  }
  std::future<void> done() { return done_.get_future(); }
  void stop() { loop_.stop(); }

 private:
  void turn(LinkId serve_to) {
    bool more = true;
    while (more) {
      more = false;
      while (std::optional<Received> received = transport_->receive()) {
        if (received->event == LinkEvent::kUp && received->link == serve_to)
          pending_ = {serve_to, numbered_frame(0, 1000)};
        if (received->event == LinkEvent::kFrame) answer(*received);
      }
      if (!pending_.second.header.empty())
        more = transport_->send(pending_.first, std::move(pending_.second)) == SendStatus::kSent;
    }
  }
  void answer(const Received& received) {
    const std::uint64_t number = number_of(received.frame);
    if (number + 1 >= last_ && !std::exchange(finished_, true)) done_.set_value();
    if (number < last_) pending_ = {received.link, numbered_frame(number + 1, 1000)};
  }

  EventLoop loop_;
  std::unique_ptr<Transport> transport_;
  std::uint64_t last_;
  std::pair<LinkId, Frame> pending_;
  bool finished_ = false;
  std::promise<void> done_;
};

TEST_P(TransportContract, TwoSleepingThreadsPlayPingPongByTheTurnsAskedForAlone) {
  Player left(*world_, world_->any_endpoint(), 2000), right(*world_, "", 2000);
  auto left_done = left.done(), right_done = right.done();
  const LinkId link = right.transport().dial(world_->address(left.transport().endpoint()));
  left.start(0);
  right.start(link);
  EXPECT_EQ(left_done.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(right_done.wait_for(kDeadline), std::future_status::ready);
  left.stop();
  right.stop();
}

}  // namespace stencil::contract
