// Links: how they come, go and return.
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/error.h"
#include "tests/contract/transport/transport_contract.h"

namespace stencil::contract {

TEST_P(TransportContract, WhoDialsFirstIsConnectedOnceTheOtherListens) {
  const std::string endpoint = world_->free_endpoint();
  auto client = dialler();
  const LinkId link = client->dial(world_->address(endpoint));
  EXPECT_FALSE(client->receive().has_value());
  EXPECT_EQ(client->send(link, numbered_frame(1, 10)), SendStatus::kDown);
  auto server = listener_at(endpoint);
  EXPECT_EQ(server->endpoint(), endpoint);
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp, server.get()).link, link);
  send_in_time(*client, link, numbered_frame(2, 10));
  expect_numbered(expect_frame(*server).frame, 2, 10);
}

TEST_P(TransportContract, AListenerCanDialOthersToo) {
  auto a = listener();
  auto b = listener();
  const LinkId to_b = connect(*a, *b);
  const LinkId to_a = connect(*b, *a);
  send_in_time(*a, to_b, numbered_frame(1, 5));
  send_in_time(*b, to_a, numbered_frame(2, 5));
  const Received at_b = expect_frame(*b);
  const Received at_a = expect_frame(*a);
  EXPECT_NE(at_b.link, to_a) << "a connection in each direction, a link for each";
  EXPECT_NE(at_a.link, to_b);
  expect_numbered(at_b.frame, 1, 5);
  expect_numbered(at_a.frame, 2, 5);
}

TEST_P(TransportContract, BothSidesLearnThatTheOtherHasGone) {
  auto server = listener();
  auto staying = dialler();
  const LinkId staying_link = connect(*staying, *server);
  auto leaving = dialler();
  const LinkId leaving_link = connect(*leaving, *server);
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
  const LinkId link = connect(*client, *server);
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

/// What it leaves unread makes TCP reset the connection, and drop what it may not send yet: of so
/// few frames nothing.
TEST_P(TransportContract, LastFramesOfOneWhoLeavesWithMuchUnreadAreHeardBeforeItsEnd) {
  constexpr std::uint64_t kLast = 5;
  for (const bool listener_leaves : {false, true}) {
    SCOPED_TRACE(listener_leaves ? "the listener leaves" : "the dialler leaves");
    auto server = listener();
    auto client = dialler();
    const LinkId link = connect(*client, *server);
    send_in_time(*client, link, numbered_frame(0, 1));
    const LinkId inbound = expect_frame(*server).link;
    auto& leaving = listener_leaves ? server : client;
    auto& staying = listener_leaves ? client : server;
    const LinkId of_leaving = listener_leaves ? inbound : link;
    const LinkId of_staying = listener_leaves ? link : inbound;
    for (std::uint64_t i = 0; i < 20; ++i) {
      send_in_time(*staying, of_staying, numbered_frame(i, 100));
    }
    for (std::uint64_t i = 0; i < kLast; ++i) {
      send_in_time(*leaving, of_leaving, numbered_frame(i, 100));
    }
    leaving.reset();
    for (std::uint64_t i = 0; i < kLast; ++i) {
      const auto received = next_event(*staying);
      ASSERT_TRUE(received && received->event == LinkEvent::kFrame) << i;
      expect_numbered(received->frame, i, 100);
    }
    const auto end = next_event(*staying);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->event, LinkEvent::kDown);
  }
}

TEST_P(TransportContract, ADialledLinkComesBackAfterARestart) {
  const std::string endpoint = world_->free_endpoint();
  auto client = dialler();
  const LinkId link = client->dial(world_->address(endpoint));
  for (std::uint64_t life = 0; life < 3; ++life) {
    auto server = listener_at(endpoint);
    EXPECT_EQ(expect_event(*client, LinkEvent::kUp, server.get()).link, link);
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
  const LinkId link = connect(*client, *server);
  send_in_time(*client, link, numbered_frame(1, 1));
  const LinkId inbound = expect_frame(*server).link;
  client->drop(link);
  EXPECT_EQ(client->send(link, numbered_frame(2, 1)), SendStatus::kDown);
  EXPECT_EQ(expect_event(*server, LinkEvent::kDown, client.get()).link, inbound);
  const LinkId again = connect(*client, *server);
  EXPECT_NE(again, link) << "link ids are never used twice";
  send_in_time(*client, again, numbered_frame(3, 1));
  const Received received = expect_frame(*server);
  EXPECT_NE(received.link, inbound);
  expect_numbered(received.frame, 3, 1);
}

TEST_P(TransportContract, AFrameOnADroppedInboundLinkOpensANewOne) {
  auto server = listener();
  auto client = dialler();
  const LinkId link = connect(*client, *server);
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

TEST_P(TransportContract, OnlySoManyInboundLinksAreRemembered) {
  TransportOptions options;
  options.max_links = 3;
  auto server = listener(options);
  std::vector<std::unique_ptr<Transport>> clients;
  std::vector<LinkId> inbound;
  for (std::uint64_t c = 0; c < 4; ++c) {
    clients.push_back(dialler());
    send_in_time(*clients.back(), connect(*clients.back(), *server), numbered_frame(c, 1));
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
  const LinkId first_link = connect(*first, *first_server);
  const LinkId second_link = connect(*second, *second_server);
  for (std::uint64_t i = 0; i < 20; ++i) {
    send_in_time(*first, first_link, numbered_frame(1000 + i, 10));
    send_in_time(*second, second_link, numbered_frame(2000 + i, 10));
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(number_of(expect_frame(*first_server).frame), 1000 + i);
    EXPECT_EQ(number_of(expect_frame(*second_server).frame), 2000 + i);
  }
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
    EXPECT_THROW((void)client->dial(world_->address(bad)), ConfigError) << "'" << bad << "'";
  EXPECT_EQ(client->endpoint(), "");
}

}  // namespace stencil::contract
