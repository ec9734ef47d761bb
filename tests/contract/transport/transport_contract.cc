#include "tests/contract/transport/transport_contract.h"

#include <array>
#include <atomic>
#include <future>
#include <map>

#include "stencil/core/error.h"
#include "stencil/io/event_loop.h"

namespace stencil::contract {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportContract);

TEST_P(TransportContract, FramesOfAllSizesArriveWholeAndInOrderBothWays) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = client->dial(server->endpoint());
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp).link, link);
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

TEST_P(TransportContract, WhoDialsFirstIsConnectedOnceTheOtherListens) {
  const std::string endpoint = world_->free_endpoint();
  auto client = dialler();
  const LinkId link = client->dial(endpoint);
  EXPECT_FALSE(client->receive().has_value());
  EXPECT_EQ(client->send(link, numbered_frame(1, 10)), SendStatus::kDown);
  auto server = listener_at(endpoint);
  EXPECT_EQ(server->endpoint(), endpoint);
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp).link, link);
  send_in_time(*client, link, numbered_frame(2, 10));
  expect_numbered(expect_frame(*server).frame, 2, 10);
}

TEST_P(TransportContract, AListenerCanDialOthersToo) {
  auto a = listener();
  auto b = listener();
  const LinkId to_b = a->dial(b->endpoint());
  const LinkId to_a = b->dial(a->endpoint());
  expect_event(*a, LinkEvent::kUp);
  expect_event(*b, LinkEvent::kUp);
  send_in_time(*a, to_b, numbered_frame(1, 5));
  send_in_time(*b, to_a, numbered_frame(2, 5));
  const Received at_b = expect_frame(*b);
  const Received at_a = expect_frame(*a);
  EXPECT_NE(at_b.link, to_a) << "a connection in each direction, a link for each";
  EXPECT_NE(at_a.link, to_b);
  expect_numbered(at_b.frame, 1, 5);
  expect_numbered(at_a.frame, 2, 5);
}

TEST_P(TransportContract, ManyLinksKeepTheirFramesApart) {
  constexpr std::uint64_t kClients = 12, kFrames = 20;
  auto server = listener();
  std::vector<std::unique_ptr<Transport>> clients;
  std::vector<LinkId> links;
  for (std::uint64_t c = 0; c < kClients; ++c) {
    clients.push_back(dialler());
    links.push_back(clients.back()->dial(server->endpoint()));
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
  const LinkId link = client->dial(server->endpoint());
  expect_event(*client, LinkEvent::kUp);
  const Frame model = numbered_frame(0, 65536);
  // Twice the queues, and what the system's buffers hold below them.
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
  const LinkId link = client->dial(server->endpoint());
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
  EXPECT_FALSE(server->receive().has_value());
  EXPECT_FALSE(wait_readable({server.get()}, std::chrono::steady_clock::now()))
      << "a full link must not keep its sender awake";
  std::uint64_t got = 0;
  for (; got < sent; ++got) EXPECT_EQ(number_of(expect_frame(*client, server.get()).frame), got);
  send_in_time(*server, inbound, numbered_frame(sent, 1));
  EXPECT_EQ(number_of(expect_frame(*client).frame), sent);
}

TEST_P(TransportContract, OneFloodingLinkDoesNotStarveAnother) {
  auto server = listener();
  auto flooder = dialler();
  auto quiet = dialler();
  auto other = listener();
  const LinkId flood_link = flooder->dial(server->endpoint());
  const LinkId quiet_link = quiet->dial(server->endpoint());
  const LinkId dialled = server->dial(other->endpoint());
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

TEST_P(TransportContract, BothSidesLearnThatTheOtherHasGone) {
  auto server = listener();
  auto staying = dialler();
  const LinkId staying_link = staying->dial(server->endpoint());
  auto leaving = dialler();
  const LinkId leaving_link = leaving->dial(server->endpoint());
  send_in_time(*staying, staying_link, numbered_frame(1, 1));
  const LinkId staying_inbound = expect_frame(*server).link;
  send_in_time(*leaving, leaving_link, numbered_frame(2, 1));
  const LinkId leaving_inbound = expect_frame(*server).link;

  leaving.reset();
  EXPECT_EQ(expect_event(*server, LinkEvent::kDown).link, leaving_inbound);
  EXPECT_EQ(server->send(leaving_inbound, numbered_frame(3, 1)), SendStatus::kDown);
  send_in_time(*server, staying_inbound, numbered_frame(4, 1));
  expect_numbered(expect_frame(*staying).frame, 4, 1);

  server.reset();
  EXPECT_EQ(expect_event(*staying, LinkEvent::kDown).link, staying_link);
  EXPECT_EQ(staying->send(staying_link, numbered_frame(5, 1)), SendStatus::kDown);
}

TEST_P(TransportContract, LastFramesOfOneWhoLeavesAreHeardBeforeItsEnd) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = client->dial(server->endpoint());
  for (std::uint64_t i = 0; i < 20; ++i) send_in_time(*client, link, numbered_frame(i, 1000));
  client.reset();
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto received = next_event(*server);
    ASSERT_TRUE(received && received->event == LinkEvent::kFrame) << i;
    expect_numbered(received->frame, i, 1000);
  }
  const auto end = next_event(*server);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->event, LinkEvent::kDown);
}

TEST_P(TransportContract, ADialledLinkComesBackAfterARestart) {
  const std::string endpoint = world_->free_endpoint();
  auto client = dialler();
  const LinkId link = client->dial(endpoint);
  for (std::uint64_t life = 0; life < 3; ++life) {
    auto server = listener_at(endpoint);
    EXPECT_EQ(expect_event(*client, LinkEvent::kUp).link, link);
    send_in_time(*client, link, numbered_frame(life, 100));
    const Received received = expect_frame(*server);
    expect_numbered(received.frame, life, 100);
    send_in_time(*server, received.link, numbered_frame(10 + life, 100));
    expect_numbered(expect_frame(*client).frame, 10 + life, 100);
    server.reset();
    EXPECT_EQ(expect_event(*client, LinkEvent::kDown).link, link);
  }
}

TEST_P(TransportContract, ADroppedLinkIsGoneForBothAndUnknownLinksAreIgnored) {
  auto server = listener();
  auto client = dialler();
  client->drop(4711);
  EXPECT_EQ(client->send(4711, numbered_frame(1, 1)), SendStatus::kDown);
  const LinkId link = client->dial(server->endpoint());
  send_in_time(*client, link, numbered_frame(1, 1));
  const LinkId inbound = expect_frame(*server).link;
  client->drop(link);
  EXPECT_EQ(client->send(link, numbered_frame(2, 1)), SendStatus::kDown);
  EXPECT_EQ(expect_event(*server, LinkEvent::kDown).link, inbound);
  const LinkId again = client->dial(server->endpoint());
  EXPECT_NE(again, link) << "link ids are never used twice";
  send_in_time(*client, again, numbered_frame(3, 1));
  const Received received = expect_frame(*server);
  EXPECT_NE(received.link, inbound);
  expect_numbered(received.frame, 3, 1);
}

TEST_P(TransportContract, AFrameOnADroppedInboundLinkOpensANewOne) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = client->dial(server->endpoint());
  send_in_time(*client, link, numbered_frame(1, 1));
  const LinkId first = expect_frame(*server).link;
  server->drop(first);
  EXPECT_EQ(server->send(first, numbered_frame(2, 1)), SendStatus::kDown);
  send_in_time(*client, link, numbered_frame(3, 1));
  const Received received = expect_frame(*server);
  EXPECT_NE(received.link, first);
  expect_numbered(received.frame, 3, 1);
  send_in_time(*server, received.link, numbered_frame(4, 1));
  expect_numbered(expect_frame(*client).frame, 4, 1);
  client.reset();
  EXPECT_EQ(expect_event(*server, LinkEvent::kDown).link, received.link);
  EXPECT_EQ(server->stats().strangers, 0U);
}

TEST_P(TransportContract, ATooLargeFrameNeverArrivesAndHarmsNobody) {
  TransportOptions small;
  small.max_frame_bytes = 8192;
  auto server = listener(small);
  auto good = dialler(small);
  auto bad = dialler();
  const LinkId good_link = good->dial(server->endpoint());
  const LinkId bad_link = bad->dial(server->endpoint());
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

TEST_P(TransportContract, OnlySoManyInboundLinksAreRemembered) {
  TransportOptions options;
  options.max_links = 3;
  auto server = listener(options);
  std::vector<std::unique_ptr<Transport>> clients;
  std::vector<LinkId> inbound;
  for (std::uint64_t c = 0; c < 4; ++c) {
    clients.push_back(dialler());
    send_in_time(*clients.back(), clients.back()->dial(server->endpoint()), numbered_frame(c, 1));
    inbound.push_back(expect_frame(*server).link);
  }
  EXPECT_EQ(server->send(inbound[0], numbered_frame(1, 1)), SendStatus::kDown) << "the oldest";
  for (std::uint64_t c = 1; c < 4; ++c)
    EXPECT_EQ(server->send(inbound[c], numbered_frame(1, 1)), SendStatus::kSent) << c;
}

TEST_P(TransportContract, TwoNetworksAtOnceNeverMeet) {
  auto first_server = listener(), second_server = listener();
  EXPECT_NE(first_server->endpoint(), second_server->endpoint());
  auto first = dialler(), second = dialler();
  const LinkId first_link = first->dial(first_server->endpoint());
  const LinkId second_link = second->dial(second_server->endpoint());
  for (std::uint64_t i = 0; i < 20; ++i) {
    send_in_time(*first, first_link, numbered_frame(1000 + i, 10));
    send_in_time(*second, second_link, numbered_frame(2000 + i, 10));
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(number_of(expect_frame(*first_server).frame), 1000 + i);
    EXPECT_EQ(number_of(expect_frame(*second_server).frame), 2000 + i);
  }
}

TEST_P(TransportContract, CountsAddUp) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = client->dial(server->endpoint());
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

TEST_P(TransportContract, MistakesAtSetUpNameTheEndpoint) {
  auto server = listener();
  try {
    (void)listener_at(server->endpoint());
    FAIL() << "two may not listen in one place";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find(server->endpoint()), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos) << error.what();
  }
  auto client = dialler();
  for (const std::string bad : {"", "nonsense", "tcp:/x", "carrier://pigeon"})
    EXPECT_THROW((void)client->dial(bad), ConfigError) << "'" << bad << "'";
  EXPECT_EQ(client->endpoint(), "");
}

/// One worker's thread: counts a frame up and sends it back, until it has gone far enough.
class Player {
 public:
  Player(Transport& transport, std::uint64_t last) : transport_(transport), last_(last) {
    for (const int descriptor : transport.descriptors()) loop_.watch(descriptor);
  }
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
      while (std::optional<Received> received = transport_.receive()) {
        if (received->event == LinkEvent::kUp && received->link == serve_to)
          pending_ = {serve_to, numbered_frame(0, 1000)};
        if (received->event == LinkEvent::kFrame) answer(*received);
      }
      if (!pending_.second.header.empty())
        more = transport_.send(pending_.first, std::move(pending_.second)) == SendStatus::kSent;
    }
  }
  void answer(const Received& received) {
    const std::uint64_t number = number_of(received.frame);
    if (number + 1 >= last_ && !std::exchange(finished_, true)) done_.set_value();
    if (number < last_) pending_ = {received.link, numbered_frame(number + 1, 1000)};
  }

  Transport& transport_;
  std::uint64_t last_;
  std::pair<LinkId, Frame> pending_;
  bool finished_ = false;
  std::promise<void> done_;
  EventLoop loop_;
};

TEST_P(TransportContract, TwoSleepingThreadsPlayPingPongByDescriptorsAlone) {
  auto server = listener();
  auto client = dialler();
  Player left(*server, 2000), right(*client, 2000);
  auto left_done = left.done(), right_done = right.done();
  left.start(0);
  right.start(client->dial(server->endpoint()));
  EXPECT_EQ(left_done.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(right_done.wait_for(kDeadline), std::future_status::ready);
  left.stop();
  right.stop();
}

}  // namespace stencil::contract
