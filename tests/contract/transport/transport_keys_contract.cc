// What a transport that proves keys must do: rank K's key is pair 10 + K, strangers have 99.
#include <gmock/gmock.h>

#include "stencil/core/error.h"
#include "tests/contract/transport/transport_contract.h"
#include "tests/support/key_rings.h"

namespace stencil::contract {

using test::KeyPair;
using test::Keys;
using test::ring;

// Transports that prove keys instantiate it; others refuse keys.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KeyedTransportContract);

namespace {

const std::vector<std::vector<std::uint8_t>> kEverybody = {{10}, {11}, {12}};

}  // namespace

bool KeyedTransportContract::serve_until(Transport& a, Transport& b,
                                         const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  do {
    while (a.receive() || b.receive()) {
    }
    if (done()) return true;
    // A refused link need not ask for a turn.
    (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

std::unique_ptr<Transport> KeyedTransportContract::server() {
  return listener({.keys = server_keys_.source(),
                   .complain = [this](const std::string& cause, std::string_view text) {
                     complaints_[cause] = text;
                   }});
}

std::unique_ptr<Transport> KeyedTransportContract::client(std::uint8_t pair) {
  client_keys_.replace(ring(pair, kEverybody));
  return dialler({.keys = client_keys_.source()});
}

bool KeyedTransportContract::refused(const Transport& server, const std::string& cause) const {
  return server.stats().strangers > 0 && complaints_.contains(cause);
}

KeyedTransportContract::KeyedTransportContract()
    : server_keys_(ring(10, kEverybody)), client_keys_(ring(11, kEverybody)) {}

TEST_P(KeyedTransportContract, BothEndsLearnWhoseKeyTheOtherHasProven) {
  auto server = this->server(), client = this->client(11);
  const LinkId link = client->dial({server->endpoint(), KeyPair(10).open});
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp, server.get()).proven, 0);
  send_in_time(*client, link, numbered_frame(1, 100));
  const Received there = expect_frame(*server, client.get());
  EXPECT_EQ(there.proven, 1);
  expect_numbered(there.frame, 1, 100);
  send_in_time(*server, there.link, numbered_frame(2, 100));
  const Received back = expect_frame(*client, server.get());
  EXPECT_EQ(back.proven, 0);
  expect_numbered(back.frame, 2, 100);
}

TEST_P(KeyedTransportContract, EveryConnectionHasTheProofOfItsOwnEnd) {
  auto server = this->server();
  Keys one(ring(11, kEverybody)), two(ring(12, kEverybody));
  auto first = dialler({.keys = one.source()}), second = dialler({.keys = two.source()});
  const PeerAddress address{server->endpoint(), KeyPair(10).open};
  const LinkId of_first = connect(*first, *server, address);
  const LinkId of_second = connect(*second, *server, address);
  send_in_time(*first, of_first, numbered_frame(1, 1));
  send_in_time(*second, of_second, numbered_frame(2, 1));
  for (int i = 0; i < 2; ++i) {
    const Received received = expect_frame(*server);
    EXPECT_EQ(received.proven, number_of(received.frame)) << "frame K is of rank K";
  }
}

TEST_P(KeyedTransportContract, WhoHasAnotherKeyThanWasDialledIsNotConnected) {
  auto server = this->server(), client = this->client(11);
  const LinkId wrong = client->dial({server->endpoint(), KeyPair(12).open});
  EXPECT_TRUE(serve_until(*server, *client, [&] { return refused(*server, "wrong dial"); }));
  EXPECT_NE(complaints_["wrong dial"].find(text(KeyPair(10).open)), std::string::npos);
  EXPECT_EQ(client->send(wrong, numbered_frame(1, 1)), SendStatus::kDown);
  client->drop(wrong);
  const LinkId right = connect(*client, *server, {server->endpoint(), KeyPair(10).open});
  send_in_time(*client, right, numbered_frame(2, 1));
  EXPECT_EQ(number_of(expect_frame(*server, client.get()).frame), 2U);
}

TEST_P(KeyedTransportContract, AStrangersKeyIsRefusedAndCountedUntilItIsAdded) {
  auto server = this->server(), client = this->client(99);
  const LinkId link = client->dial({server->endpoint(), KeyPair(10).open});
  EXPECT_TRUE(serve_until(*server, *client,
                          [&] { return server->stats().strangers > 0 && !complaints_.empty(); }));
  ASSERT_EQ(complaints_.size(), 1U);
  EXPECT_THAT(complaints_.begin()->first, ::testing::StartsWith("unknown key"));
  EXPECT_NE(complaints_.begin()->second.find(text(KeyPair(99).open)), std::string::npos);
  EXPECT_EQ(client->send(link, numbered_frame(1, 1)), SendStatus::kDown);
  EXPECT_EQ(server->stats().frames_received, 0U);

  server_keys_.replace(ring(10, {{10}, {11, 99}, {12}}));
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp, server.get()).proven, 0);
  send_in_time(*client, link, numbered_frame(2, 1));
  EXPECT_EQ(expect_frame(*server, client.get()).proven, 1);
}

TEST_P(KeyedTransportContract, WhoHasNoKeyIsRefusedAndCounted) {
  auto server = this->server(), bare = dialler();
  const LinkId link = bare->dial(server->endpoint());
  EXPECT_TRUE(serve_until(*server, *bare, [&] { return refused(*server, "no key"); }));
  (void)bare->send(link, numbered_frame(1, 1));
  auto client = this->client(11);
  send_in_time(*client, connect(*client, *server, {server->endpoint(), KeyPair(10).open}),
               numbered_frame(2, 1));
  EXPECT_EQ(number_of(expect_frame(*server, client.get()).frame), 2U);
}

TEST_P(KeyedTransportContract, WhoDialsForAKeyWhereNobodyHasOneIsNamedThere) {
  auto server = listener({.complain = [this](const std::string& cause, std::string_view text) {
    complaints_[cause] = text;
  }});
  auto client = this->client(11);
  const LinkId link = client->dial({server->endpoint(), KeyPair(10).open});
  EXPECT_TRUE(serve_until(*server, *client, [&] { return refused(*server, "keys there alone"); }));
  EXPECT_NE(complaints_["keys there alone"].find("this worker has none"), std::string::npos);
  EXPECT_EQ(client->send(link, numbered_frame(1, 1)), SendStatus::kDown);
  auto bare = dialler();
  send_in_time(*bare, connect(*bare, *server), numbered_frame(2, 1));
  EXPECT_EQ(number_of(expect_frame(*server, bare.get()).frame), 2U);
}

TEST_P(KeyedTransportContract, AKeyThatIsTakenBackProvesNothingFromThenOn) {
  auto server = this->server(), client = this->client(11);
  const LinkId link = connect(*client, *server, {server->endpoint(), KeyPair(10).open});
  send_in_time(*client, link, numbered_frame(1, 1));
  EXPECT_EQ(expect_frame(*server, client.get()).proven, 1);
  server_keys_.replace(ring(10, {{10}, {13}, {12}}));
  (void)server->receive();
  (void)client->send(link, numbered_frame(2, 1));
  Keys others(ring(12, kEverybody));
  auto other = dialler({.keys = others.source()});
  const LinkId to = other->dial({server->endpoint(), KeyPair(10).open});
  // The listening socket may have been made anew, and the old one still take a connection that
  // ends at once: sends until a frame arrives.
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  std::optional<Rank> proven;
  while (proven != 2 && std::chrono::steady_clock::now() < deadline) {
    (void)other->send(to, numbered_frame(3, 1));
    while (other->receive() || client->receive()) {
    }
    while (const std::optional<Received> received = server->receive()) {
      if (received->event != LinkEvent::kFrame) continue;
      proven = received->proven;
      EXPECT_NE(proven, 1);
    }
    (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  }
  EXPECT_EQ(proven, 2);
}

TEST_P(KeyedTransportContract, LinksAreMadeAnewWhenTheOwnKeyIsReplaced) {
  server_keys_.replace(ring(10, {{10}, {11, 21}, {12}}));
  auto server = this->server(), client = this->client(11);
  const LinkId link = connect(*client, *server, {server->endpoint(), KeyPair(10).open});
  client_keys_.replace(ring(21, kEverybody));
  expect_event(*client, LinkEvent::kDown, server.get());
  expect_event(*client, LinkEvent::kUp, server.get());
  server_keys_.replace(ring(10, {{10}, {21}, {12}}));
  send_in_time(*client, link, numbered_frame(1, 1));
  EXPECT_EQ(expect_frame(*server, client.get()).proven, 1);
}

TEST_P(KeyedTransportContract, AListenersNewKeyIsTheOneToDial) {
  auto server = this->server(), client = this->client(11);
  const LinkId old = connect(*client, *server, {server->endpoint(), KeyPair(10).open});
  server_keys_.replace(ring(20, kEverybody));
  client_keys_.replace(ring(11, {{10, 20}, {11}, {12}}));
  expect_event(*client, LinkEvent::kDown, server.get());
  client->drop(old);
  const LinkId link = client->dial({server->endpoint(), KeyPair(20).open});
  EXPECT_EQ(expect_event(*client, LinkEvent::kUp, server.get()).proven, 0);
  send_in_time(*client, link, numbered_frame(1, 1));
  EXPECT_EQ(expect_frame(*server, client.get()).proven, 1);
}

TEST_P(KeyedTransportContract, AnAddressHasAKeyWhereKeysAreInUseAndOnlyThere) {
  auto server = this->server(), client = this->client(11), bare = dialler();
  EXPECT_THROW((void)client->dial(server->endpoint()), ConfigError);
  EXPECT_THROW((void)bare->dial({server->endpoint(), KeyPair(10).open}), ConfigError);
}

}  // namespace stencil::contract
