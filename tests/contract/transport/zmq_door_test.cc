// Crowds before a ZeroMQ listener, messages without an end, and keys that are replaced.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "stencil/transport/descriptors.h"
#include "stencil/transport/zmq/monitor.h"
#include "tests/contract/transport/transport_contract.h"
#include "tests/support/descriptors.h"
#include "tests/support/key_rings.h"
#include "tests/support/stream_bytes.h"
#include "tests/support/zmtp_bytes.h"

namespace stencil::contract {
namespace {

using fast::testing::NoDescriptorsLeft;
using fast::testing::RawConnection;
using fast::testing::zmtp_greeting;
using fast::testing::zmtp_ready;

std::uint64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
  }
  return 0;
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Begins to connect, and does not wait for it.
Descriptor begun(const std::string& endpoint) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  (void)::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return socket;
}

/// A listener and a friend, whose link is in service all the while.
class ZmqDoor : public TransportTest, public ::testing::WithParamInterface<bool> {
 protected:
  ZmqDoor() : server_keys_(test::ring(10, kEverybody)), keys_(test::ring(11, kEverybody)) {
    TransportOptions listening{.listen = "zmq://127.0.0.1:0",
                               .max_frame_bytes = 256 << 10,
                               .complain = [this](const std::string& cause, std::string_view text) {
                                 complaints_[cause] = text;
                               }};
    if (GetParam()) listening.keys = server_keys_.source();
    server_ = make(listening);
    friend_ = another(keys_);
    link_ = dial(*friend_);
  }

  std::unique_ptr<Transport> another(test::Keys& keys) {
    return make(GetParam() ? TransportOptions{.keys = keys.source()} : TransportOptions{});
  }
  LinkId dial(Transport& from) {
    PeerAddress address = server_->endpoint();
    if (GetParam()) address.key = test::KeyPair(10).open;
    const LinkId link = from.dial(address);
    EXPECT_EQ(expect_event(from, LinkEvent::kUp, server_.get()).link, link);
    return link;
  }

  /// There and back, so that the link is a neighbour's to the listener.
  void expect_friend_is_heard() {
    send_in_time(*friend_, link_, numbered_frame(++number_, 100));
    std::optional<Received> there;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!there || there->event != LinkEvent::kFrame || number_of(there->frame) != number_) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the friend is not heard";
      there = next_event(*server_, friend_.get());
    }
    if (inbound_ == 0) inbound_ = there->link;
    EXPECT_EQ(there->link, inbound_) << "a friend's link was disturbed";
    send_in_time(*server_, there->link, numbered_frame(number_, 100));
    expect_numbered(expect_frame(*friend_, server_.get()).frame, number_, 100);
  }

  /// Each that has come to be connected, once: with a handshake, where it takes no key.
  void greet(const std::vector<Descriptor>& crowd, std::vector<bool>& greeted) {
    const std::string bytes =
        zmtp_greeting(GetParam() ? "CURVE" : "NULL") + (GetParam() ? std::string() : zmtp_ready());
    for (std::size_t i = 0; i < crowd.size(); ++i) {
      pollfd up{crowd[i].get(), POLLOUT, 0};
      if (greeted[i] || ::poll(&up, 1, 0) != 1) continue;
      greeted[i] = true;
      (void)!::send(crowd[i].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }

  const std::vector<std::vector<std::uint8_t>> kEverybody = {{10}, {11}, {12}};
  test::Keys server_keys_, keys_;
  std::map<std::string, std::string> complaints_;  ///< of the listener, by cause
  std::unique_ptr<Transport> server_, friend_;
  LinkId link_ = 0, inbound_ = 0;
  std::uint64_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Keys, ZmqDoor, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "WithKeys" : "WithoutKeys");
});

class ZmqDoorWithKeys : public ZmqDoor {};
INSTANTIATE_TEST_SUITE_P(Keys, ZmqDoorWithKeys, ::testing::Values(true));
class ZmqDoorWithoutKeys : public ZmqDoor {};
INSTANTIATE_TEST_SUITE_P(Keys, ZmqDoorWithoutKeys, ::testing::Values(false));

/// Each holds its connection: without keys after a handshake, with keys after a greeting.
TEST_P(ZmqDoor, ACrowdThatSaysNothingTakesFewDescriptorsAndLeavesRoomForFriends) {
  constexpr std::size_t kCrowd = 400, kMore = 150;
  expect_friend_is_heard();
  const std::size_t before = open_files();
  std::vector<Descriptor> crowd;
  std::size_t most = 0;
  std::vector<bool> greeted(kCrowd);
  while (crowd.size() < kCrowd) {
    crowd.push_back(begun(server_->endpoint()));
    if (crowd.size() % 10 != 0) continue;
    greet(crowd, greeted);
    expect_friend_is_heard();
    most = std::max(most, open_files() - crowd.size());
  }
  EXPECT_LE(most, before + kMore);
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!complaints_.contains("crowd")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody was hung up on";
    greet(crowd, greeted);
    expect_friend_is_heard();
  }
  test::Keys keys(test::ring(12, kEverybody));
  const auto newcomer = another(keys);
  const LinkId link = dial(*newcomer);
  send_in_time(*newcomer, link, numbered_frame(1, 1));
  expect_friend_is_heard();
}

/// In parts of no bytes, which take thirty times as much memory as bytes on the wire.
TEST_P(ZmqDoorWithoutKeys, MessagesWithoutAnEndTakeLittleMemory) {
  constexpr std::size_t kAtOnce = 8, kBytes = 64 << 20;
  expect_friend_is_heard();
  const std::uint64_t before = resident_kilobytes();
  std::atomic<std::size_t> sent{0};
  std::atomic<std::size_t> ended{0};
  std::vector<std::thread> endless;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    endless.emplace_back([&, endpoint = server_->endpoint()] {
      std::string parts;
      for (int part = 0; part < 32'768; ++part) parts += std::string("\1\0", 2);
      // Comes back until all have sent what would take gigabytes.
      while (sent < kBytes && ended < 50) {
        const RawConnection stranger(endpoint);
        stranger.write(zmtp_greeting("NULL"));
        char answer[64];
        if (::recv(stranger.descriptor(), answer, sizeof answer, MSG_WAITALL) <= 0) continue;
        stranger.write(zmtp_ready());
        if (::recv(stranger.descriptor(), answer, sizeof answer, 0) <= 0) continue;
        for (ssize_t size = 1; size > 0 && sent < kBytes;) {
          size = ::send(stranger.descriptor(), parts.data(), parts.size(), MSG_NOSIGNAL);
          if (size > 0) sent += static_cast<std::size_t>(size);
        }
        ++ended;
      }
    });
  }
  std::uint64_t most = 0;
  while (sent < kBytes && ended < 50) {
    expect_friend_is_heard();
    most = std::max(most, resident_kilobytes());
    if (HasFailure() || most > before + (512U << 10)) break;
  }
  sent = kBytes;
  // The door still has to hang up on those that wait to send.
  std::atomic<bool> all_left{false};
  std::thread waits([&] {
    for (std::thread& thread : endless) thread.join();
    all_left = true;
  });
  while (!all_left) expect_friend_is_heard();
  waits.join();
  EXPECT_LT(most, before + (64U << 10)) << "KiB";
  EXPECT_TRUE(complaints_.contains("endless message"));
}

/// By who holds a key of the run; from libzmq itself, for no transport of ours sends so many.
TEST_P(ZmqDoor, AMessageOfTooManyPartsIsNotWaitedFor) {
  constexpr int kParts = 1'500'000;
  expect_friend_is_heard();
  zmq::context_t context;
  zmq::socket_t mad(context, zmq::socket_type::dealer);
  mad.set(zmq::sockopt::linger, 0);
  mad.set(zmq::sockopt::reconnect_ivl, -1);
  if (GetParam()) {
    const std::shared_ptr<const KeyRing> ring = test::ring(12, kEverybody);
    const auto bytes = [](const auto& key) {
      const std::span all(key.bytes);
      return zmq::const_buffer(all.data(), all.size());
    };
    const PublicKey theirs = test::KeyPair(10).open;
    mad.set(zmq::sockopt::curve_publickey, bytes(ring->own_public));
    mad.set(zmq::sockopt::curve_secretkey, bytes(ring->own_secret));
    mad.set(zmq::sockopt::curve_serverkey, bytes(theirs));
  }
  mad.connect("tcp://" + server_->endpoint().substr(6));
  for (int i = 0; i < kParts; ++i) (void)mad.send(zmq::message_t(), zmq::send_flags::sndmore);
  (void)mad.send(zmq::message_t(), zmq::send_flags::none);
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!complaints_.contains("endless message")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    expect_friend_is_heard();
  }
  EXPECT_FALSE(complaints_.contains("no frames")) << "it was waited for";
}

TEST_P(ZmqDoorWithKeys, ANewKeyOfOursWithoutDescriptorsIsListenedWithLater) {
  expect_friend_is_heard();
  {
    const NoDescriptorsLeft none;
    server_keys_.replace(test::ring(20, {{20}, {11}, {12}}));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    do {
      EXPECT_NO_THROW((void)server_->receive());
    } while (wait(until));
  }
  friend_->drop(link_);
  keys_.replace(test::ring(11, {{20}, {11}, {12}}));
  const LinkId link = friend_->dial({server_->endpoint(), test::KeyPair(20).open});
  EXPECT_EQ(expect_event(*friend_, LinkEvent::kUp, server_.get()).link, link);
}

TEST_P(ZmqDoorWithKeys, AWithdrawnKeyEndsItsOwnLinkAlone) {
  expect_friend_is_heard();
  test::Keys keys(test::ring(12, kEverybody));
  const auto other = another(keys);
  send_in_time(*other, dial(*other), numbered_frame(1, 1));
  const LinkId inbound = expect_frame(*server_, other.get()).link;
  server_keys_.replace(test::ring(10, {{10}, {11}, {13}}));
  EXPECT_EQ(expect_event(*server_, LinkEvent::kDown, friend_.get()).link, inbound);
  expect_event(*other, LinkEvent::kDown, server_.get());
  expect_friend_is_heard();
}

}  // namespace
}  // namespace stencil::contract
