// Bare sockets with keys, and strangers that speak TLS, or half of it, or none.
#include <poll.h>

#include <map>

#include "tests/contract/transport/transport_contract.h"
#include "tests/support/stream_bytes.h"

namespace stencil::contract {
namespace {

using fast::testing::greeting;
using fast::testing::RawConnection;
using test::KeyPair;
using test::Keys;
using test::ring;

const std::vector<std::vector<std::uint8_t>> kBoth = {{10}, {11}};

/// The ring of whoever claims one pair's public key and holds another's secret.
std::shared_ptr<const KeyRing> forged(std::uint8_t claimed, std::uint8_t held) {
  auto out = std::make_shared<KeyRing>();
  out->own_public = KeyPair(claimed).open;
  out->own_secret = SecretKey(KeyPair(held).secret);
  out->by_rank = ring(held, kBoth)->by_rank;
  return out;
}

class StreamKeys : public TransportTest {
 protected:
  StreamKeys() {
    server_ = listener(Keys(ring(10, kBoth)).source());
    friend_ = make({.keys = Keys(ring(11, kBoth)).source()});
    link_ = friend_->dial(address_of(*server_));
    expect_event(*friend_, LinkEvent::kUp, server_.get());
    expect_friend_is_heard();
  }

  std::unique_ptr<Transport> listener(KeySource keys) {
    return make({.listen = "tcp://127.0.0.1:0",
                 .keys = std::move(keys),
                 .complain = [this](const std::string& cause, std::string_view text) {
                   complaints_[cause] = text;
                 }});
  }
  static PeerAddress address_of(const Transport& server) {
    return {server.endpoint(), KeyPair(10).open};
  }

  void expect_friend_is_heard() {
    send_in_time(*friend_, link_, numbered_frame(++number_, 100'000));
    const Received received = expect_frame(*server_, friend_.get());
    expect_numbered(received.frame, number_, 100'000);
    EXPECT_EQ(received.proven, 1);
  }

  /// Only the count may show them; `other` works meanwhile, and is never connected.
  void expect_strangers(std::uint64_t count, Transport* other = nullptr) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    do {
      EXPECT_FALSE(server_->receive().has_value());
      if (other != nullptr) {
        const std::optional<Received> event = other->receive();
        EXPECT_FALSE(event.has_value());
      }
      if (server_->stats().strangers >= count) break;
    } while (wait(deadline));
    EXPECT_GE(server_->stats().strangers, count);
  }

  std::map<std::string, std::string> complaints_;
  std::unique_ptr<Transport> server_, friend_;
  LinkId link_ = 0;
  std::uint64_t number_ = 0;
};

/// What a dialler says first.
std::string client_hello() {
  EventLoop loop;
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listening, 4), 0);
  EXPECT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto client = make_transport({.loop = &loop, .keys = Keys(ring(11, kBoth)).source()});
  (void)client->dial(
      {"tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), KeyPair(10).open});
  const int accepted = ::accept(listening, nullptr, nullptr);
  pollfd readable{accepted, POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (::poll(&readable, 1, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    (void)client->receive();
    (void)loop.wait_for(std::chrono::milliseconds(1));
  }
  std::string bytes(4096, '\0');
  const ssize_t got = ::recv(accepted, bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  ::close(accepted);
  ::close(listening);
  return bytes;
}

TEST_F(StreamKeys, WhatIsNoHandshakeOrHalfOfOneIsCountedAndHarmsNobody) {
  const std::string hello = client_hello();
  ASSERT_GT(hello.size(), 100U);
  std::string damaged = hello;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);  // of the proof
  std::string longest = hello.substr(0, 3) + "\xff\xff" + std::string(100'000, 'x');
  std::uint64_t count = 0;
  for (const std::string& bytes :
       {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"), greeting(), std::string("\x16"),
        hello.substr(0, 5), hello.substr(0, hello.size() / 2), hello, damaged, longest,
        hello + hello, hello + std::string(10'000, 'x'), std::string(3000, '\x16')}) {
    SCOPED_TRACE("stranger " + std::to_string(count));
    { RawConnection(server_->endpoint()).write(bytes); }
    expect_strangers(++count);
    expect_friend_is_heard();
  }
  EXPECT_EQ(server_->stats().strangers, count);
}

TEST_F(StreamKeys, WhoNeverEndsAHandshakeIsHungUpOn) {
  const std::string hello = client_hello();
  const RawConnection silent(server_->endpoint()), half(server_->endpoint()),
      first_word(server_->endpoint());
  half.write(hello.substr(0, hello.size() - 1));
  first_word.write(hello);
  expect_strangers(3);
  expect_friend_is_heard();
}

TEST_F(StreamKeys, WhoseSecretIsNotThatOfTheKeyItNamesProvesNothing) {
  auto liar = make({.keys = Keys(forged(11, 99)).source()});
  const LinkId link = liar->dial(address_of(*server_));
  expect_strangers(1, liar.get());
  EXPECT_EQ(liar->send(link, numbered_frame(1, 1)), SendStatus::kDown);
  expect_friend_is_heard();
}

TEST_F(StreamKeys, AListenerWhoseSecretIsNotThatOfTheKeyDialledIsNotConnected) {
  auto liar = listener(Keys(forged(10, 99)).source());
  auto client = make({.keys = Keys(ring(11, kBoth)).source()});
  const LinkId link = client->dial(address_of(*liar));
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (liar->stats().strangers < 2 && std::chrono::steady_clock::now() < deadline) {
    EXPECT_FALSE(client->receive().has_value());
    EXPECT_FALSE(liar->receive().has_value());
    (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  }
  EXPECT_GE(liar->stats().strangers, 2U) << "it has been dialled again";
  EXPECT_EQ(client->send(link, numbered_frame(1, 1)), SendStatus::kDown);
}

TEST_F(StreamKeys, WhoIsNotKnownThereIsTold) {
  std::string told;
  auto client = make({.keys = Keys(ring(99, {{10}, {99}})).source(),
                      .complain = [&](const std::string&, std::string_view text) { told = text; }});
  (void)client->dial(address_of(*server_));
  expect_strangers(1, client.get());
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (told.empty() && std::chrono::steady_clock::now() < deadline) {
    EXPECT_FALSE(client->receive().has_value());
    EXPECT_FALSE(server_->receive().has_value());
    (void)wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  }
  EXPECT_NE(told.find("does not know our key, " + text(KeyPair(99).open)), std::string::npos);
}

}  // namespace
}  // namespace stencil::contract
