// Strangers that connect to a ZeroMQ listener by hand, with keys and without.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "stencil/core/random.h"
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
using fast::testing::zmtp_part;
using fast::testing::zmtp_ready;

std::uint64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmPeak:")) return std::stoull(line.substr(7));
  }
  return 0;
}

class ZmqStrangers : public TransportTest, public ::testing::WithParamInterface<bool> {
 protected:
  ZmqStrangers() {
    TransportOptions listening{.listen = "zmq://127.0.0.1:0"}, dialling;
    if (GetParam()) {
      listening.keys = test::Keys(test::ring(10, {{10}, {11}})).source();
      dialling.keys = test::Keys(test::ring(11, {{10}, {11}})).source();
    }
    server_ = make(listening);
    friend_ = make(dialling);
    PeerAddress address = server_->endpoint();
    if (GetParam()) address.key = test::KeyPair(10).open;
    link_ = friend_->dial(address);
    EXPECT_EQ(expect_event(*friend_, LinkEvent::kUp, server_.get()).link, link_);
    expect_friend_is_heard();
  }

  void expect_friend_is_heard() {
    send_in_time(*friend_, link_, numbered_frame(++number_, 100));
    expect_numbered(expect_frame(*server_, friend_.get()).frame, number_, 100);
  }

  /// Only the count may show them.
  void expect_strangers(std::uint64_t least) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    do {
      EXPECT_FALSE(server_->receive().has_value());
      if (server_->stats().strangers >= least) break;
    } while (wait(deadline));
    EXPECT_GE(server_->stats().strangers, least);
  }

  void expect_hung_up(const RawConnection& stranger) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    pollfd end{stranger.descriptor(), POLLRDHUP, 0};
    while (::poll(&end, 1, 100) == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "a stranger may stay for ever";
      EXPECT_FALSE(server_->receive().has_value());
    }
  }

  /// As a DEALER without keys, which says nothing more before it is answered: libzmq takes whatever
  /// comes sooner for a wrong handshake. Whoever expects keys hangs up instead.
  void shake_hands(const RawConnection& stranger) {
    stranger.write(zmtp_greeting("NULL") + zmtp_ready());
    std::string answer;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (answer.find("READY") == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no answer";
      EXPECT_FALSE(server_->receive().has_value());
      std::array<char, 4096> bytes{};
      const ssize_t size = ::recv(stranger.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN)) break;
      if (size > 0) answer.append(bytes.data(), static_cast<std::size_t>(size));
    }
    EXPECT_EQ(answer.find("READY") == std::string::npos, GetParam());
  }

  std::unique_ptr<Transport> server_, friend_;
  LinkId link_ = 0;
  std::uint64_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Keys, ZmqStrangers, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "WithKeys" : "WithoutKeys");
});

TEST_P(ZmqStrangers, GarbageIsCountedAndHarmsNobody) {
  Random random(7);
  std::string noise(100000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  std::uint64_t count = 0;
  for (const std::string& bytes :
       {std::string(), std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), noise,
        zmtp_greeting("NULL").substr(0, 11), zmtp_greeting("NULL").substr(0, 40),
        zmtp_greeting("NULL"), zmtp_greeting("PLAIN"), zmtp_greeting("CURVE"),
        zmtp_greeting("CURVE") + noise, zmtp_greeting("NULL") + noise,
        std::string("\x01\x00\x08"
                    "an old v1",
                    12)}) {
    { RawConnection(server_->endpoint()).write(bytes); }
    SCOPED_TRACE("stranger " + std::to_string(count));
    expect_strangers(++count);
    expect_friend_is_heard();
  }
}

TEST_P(ZmqStrangers, WhoSendsWhatIsNoFrameIsCountedAndHungUpOn) {
  const auto part = zmtp_part;
  std::uint64_t count = 0;
  for (const std::string& message :
       {part("header", true) + part("payload", true) + part("", false),
        part(std::string(5000, 'h'), false), part(std::string(5000, 'h'), true) + part("", false),
        part("a", true) + part("b", true) + part("c", true) + part("d", false)}) {
    const RawConnection stranger(server_->endpoint());
    shake_hands(stranger);
    if (!GetParam()) stranger.write(message);  // whoever proves no key sends no messages
    expect_strangers(++count);
    expect_hung_up(stranger);
    expect_friend_is_heard();
  }
  EXPECT_EQ(server_->stats().strangers, count);
}

TEST_P(ZmqStrangers, AMessageThatClaimsSixGigabytesReservesNothing) {
  const std::uint64_t before = peak_kilobytes();
  ASSERT_GT(before, 0U);
  const RawConnection stranger(server_->endpoint());
  const std::string size("\0\0\0\x01\x80\0\0\0", 8);
  shake_hands(stranger);
  stranger.write("\x02" + size + std::string(100, 'x'));
  expect_strangers(1);
  expect_friend_is_heard();
  EXPECT_LT(peak_kilobytes() - before, 1U << 20);
}

TEST_P(ZmqStrangers, WhoSaysNothingIsHungUpOn) {
  const RawConnection silent(server_->endpoint()), greeting(server_->endpoint()),
      polite(server_->endpoint());
  greeting.write(zmtp_greeting("NULL").substr(0, 20));
  shake_hands(polite);
  for (const RawConnection* const stranger : {&silent, &greeting, &polite}) {
    expect_hung_up(*stranger);
  }
  expect_strangers(3);
  expect_friend_is_heard();
}

TEST_P(ZmqStrangers, WithoutDescriptorsNewcomersWaitAndFriendsDoNot) {
  const RawConnection newcomer(server_->endpoint());
  {
    const NoDescriptorsLeft none;
    (void)server_->receive();
    expect_friend_is_heard();
  }
  expect_friend_is_heard();
}

TEST_P(ZmqStrangers, ManyShortConnectionsLeaveNothingBehind) {
  const auto open = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = open();
  for (int i = 0; i < 500; ++i) {
    RawConnection(server_->endpoint()).write("x");
    if (i % 50 == 49) expect_friend_is_heard();
  }
  expect_strangers(500);
  EXPECT_LE(open(), before + 4);
}

}  // namespace
}  // namespace stencil::contract
